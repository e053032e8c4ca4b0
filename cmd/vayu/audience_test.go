package main

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"vayu/cmd/vayu/tool"
	"vayu/internal/access/account"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
)

// Without --mode, events go to the world of the webhooks that subscribe to them. The
// output begins with the number of events.
func TestFiredEventsGoToSubscribers(t *testing.T) {
	t.Parallel()
	hook := func(mode, events string) webhookRow { return webhookRow{mode: mode, events: events, active: 1} }
	for name, c := range map[string]struct {
		hooks []webhookRow
		flags string
		want  string
	}{
		"no webhook": {nil, "", "live, payment.succeeded; webhooks: 0 live, 0 sandbox"},
		"sandbox": {
			[]webhookRow{hook("sandbox", "payment.failed payment.succeeded")}, "--count 5",
			"sandbox, payment.succeeded; webhooks: 0 live, 1 sandbox",
		},
		"live": {[]webhookRow{hook("live", "payment.succeeded"), hook("live", "payment.succeeded")}, "", "live, payment.succeeded; webhooks: 2 live, 0 sandbox"},
		"both": {
			[]webhookRow{hook("live", "payment.succeeded"), hook("sandbox", "payment.succeeded")}, "",
			"live, payment.succeeded; webhooks: 1 live, 1 sandbox",
		},
		"another type":   {[]webhookRow{hook("sandbox", "payment.failed")}, "", "live, payment.succeeded; webhooks: 0 live, 0 sandbox"},
		"that type":      {[]webhookRow{hook("sandbox", "payment.failed")}, "--type payment.failed", "sandbox, payment.failed; webhooks: 0 live, 1 sandbox"},
		"a part of one":  {[]webhookRow{hook("sandbox", "payment.succeeded.twice")}, "", "live, payment.succeeded; webhooks: 0 live, 0 sandbox"},
		"deleted":        {[]webhookRow{{"sandbox", "payment.succeeded", 1, true}}, "", "live, payment.succeeded; webhooks: 0 live, 0 sandbox"},
		"paused":         {[]webhookRow{{"sandbox", "payment.succeeded", 0, false}}, "", "sandbox, payment.succeeded; webhooks: 0 live, 1 sandbox (1 paused)"},
		"one is paused":  {[]webhookRow{hook("live", "payment.succeeded"), {"live", "payment.succeeded", 0, false}}, "", "live, payment.succeeded; webhooks: 2 live (1 paused), 0 sandbox"},
		"a flag decides": {[]webhookRow{hook("sandbox", "payment.succeeded")}, "--mode live", "live, payment.succeeded; webhooks: 0 live, 1 sandbox"},
		"test is it too": {[]webhookRow{hook("live", "payment.succeeded")}, "--mode test", "sandbox, payment.succeeded; webhooks: 1 live, 0 sandbox"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := t.TempDir()
			db := sqlstoretest.Open(t, sqlstore.Config{Data: data})
			for _, name := range []string{tool.DefaultAccount, "other"} {
				if out, err := command(t.Context(), "account", "create", name, "--data", data); err != nil {
					t.Fatalf("%v: %s", err, out)
				}
			}
			insertWebhooks(t, db, c.hooks)
			out, err := command(t.Context(), append([]string{"events", "fire", "--data", data}, strings.Fields(c.flags)...)...)
			n := 1
			if strings.Contains(c.flags, "--count") {
				n = 5
			}
			if want := fmt.Sprintf("committed %d events (%s)\n", n, c.want); err != nil || out != want {
				t.Errorf("got %v: %s want %s", err, out, want)
			}
			var world string
			if err := db.View(t.Context()).QueryRow("SELECT DISTINCT mode FROM event").Scan(&world); err != nil || !strings.HasPrefix(c.want, world) {
				t.Errorf("the events are of the world %q: %v", world, err)
			}
		})
	}
}

// webhookRow is a webhook as it is stored.
type webhookRow struct {
	mode, events string
	active       int
	deleted      bool
}

// insertWebhooks inserts webhooks of the default account, and one of another account
// that must not count.
func insertWebhooks(t *testing.T, db *sqlstore.DB, hooks []webhookRow) {
	t.Helper()
	insert := func(tx *sqlstore.Tx, name, id string, h webhookRow) error {
		holder, err := account.ByName(tx, name)
		if err != nil {
			return err
		}
		_, err = tx.Exec(`INSERT INTO webhook (id, account_id, url, api_version, secret, secret_last4, created_at, revision, mode, events, active, deleted_at)
			VALUES ($1, $2, 'https://hooks.example.com/', '1', $3, 'last', 1, 1, $4, $5, $6, $7)`,
			id, holder.ID, []byte{1}, h.mode, h.events, h.active, sql.NullInt64{Int64: 7, Valid: h.deleted})
		return err
	}
	if err := db.Update(t.Context(), func(tx *sqlstore.Tx) error {
		for i, h := range hooks {
			if err := insert(tx, tool.DefaultAccount, fmt.Sprintf("wh_%d", i), h); err != nil {
				return err
			}
		}
		return insert(tx, "other", "wh_other", webhookRow{mode: "sandbox", events: "payment.succeeded", active: 1})
	}); err != nil {
		t.Fatal(err)
	}
}

package access

import (
	"context"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/access/account"
	"vayu/internal/access/apikey"
	"vayu/internal/httpapi"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/schema"
)

func TestScopesFollowTheKey(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		s := newServiceFixture(t, db, nil)
		var key apikey.Created
		statetestUpdate(t, db, func(tx *sqlstore.Tx) error {
			h, _, err := account.Create(tx, s.Settings.Plans, "a", "unlimited", s.Now())
			if err != nil {
				return err
			}
			key, _, err = apikey.Create(tx, s.Cipher, apikey.Spec{
				Account: h.ID, World: schema.Sandbox, Scopes: []schema.Scope{schema.AQIRead, schema.WebhooksManage},
				AllowList: []string{"192.0.2.0/24"},
			}, s.Now())
			return err
		})
		if err := s.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		call := func(from, key string) *httpapi.Call {
			return &httpapi.Call{
				Request: httptest.NewRequest("GET", "/v1/live", nil), Client: netip.MustParseAddr(from),
				Principal: httpapi.Principal{World: schema.Sandbox, Key: key},
			}
		}
		want := []schema.Scope{schema.AQIRead, schema.WebhooksManage}
		for name, c := range map[string]struct {
			call *httpapi.Call
			want []schema.Scope
		}{
			"as it was admitted": {call("192.0.2.1", key.Record.ID), want},
			"from elsewhere":     {call("198.51.100.1", key.Record.ID), nil},
			"no key":             {call("192.0.2.1", "key_x"), nil},
		} {
			t.Run(name, func(t *testing.T) {
				if diff := cmp.Diff(c.want, s.Scopes(c.call)); diff != "" {
					t.Error(diff)
				}
			})
		}
		for _, column := range []string{"revoked_at", "expires_at"} {
			sqlstoretest.Exec(t, db, "UPDATE access_revision SET n = n + 1")
			sqlstoretest.Exec(t, db, "UPDATE api_key SET revoked_at = NULL, expires_at = NULL")
			sqlstoretest.Exec(t, db, "UPDATE api_key SET "+column+" = $1, revision = (SELECT n FROM access_revision)", s.Now().UnixMicro())
			if err := s.Refresh(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := s.Scopes(call("192.0.2.1", key.Record.ID)); got != nil {
				t.Errorf("with %s it may do %v", column, got)
			}
		}
	})
}

func TestEndedReportsEndedSessions(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		s := newServiceFixture(t, db, nil)
		now := time.Date(2026, 11, 21, 6, 0, 0, 0, time.UTC)
		s.clock.Set(now)
		var key apikey.Created
		statetestUpdate(t, db, func(tx *sqlstore.Tx) error {
			h, _, err := account.Create(tx, s.Settings.Plans, "a", "unlimited", now)
			if err != nil {
				return err
			}
			key, _, err = apikey.Create(tx, s.Cipher, apikey.Spec{Account: h.ID, World: schema.Sandbox, Scopes: schema.Scopes}, now)
			return err
		})
		for id, expires := range map[string]time.Time{"ses_on": now.Add(time.Second), "ses_over": now} {
			sqlstoretest.Exec(t, db, "INSERT INTO session (id, hash, key_id, client, agent, created_at, expires_at) VALUES ($1, $2, $3, '', '', 0, $4)",
				id, []byte(id), key.Record.ID, expires.UnixMicro())
		}
		var calls []*httpapi.Call
		for _, id := range []string{"ses_on", "ses_over", "ses_signed_out", "ses_on"} {
			calls = append(calls, &httpapi.Call{BySession: true, Session: id})
		}
		got, err := s.SessionsEnded(t.Context(), calls)
		if diff := cmp.Diff([]bool{false, true, true, false}, got); err != nil || diff != "" {
			t.Errorf("%v %s", err, diff)
		}
		ended, end := context.WithCancel(t.Context())
		end()
		if _, err := s.SessionsEnded(ended, calls); err == nil {
			t.Error("a canceled query reports ended sessions")
		}
	})
}

// statetestUpdate runs a transaction.
func statetestUpdate(t *testing.T, db *sqlstore.DB, do func(tx *sqlstore.Tx) error) {
	t.Helper()
	if err := db.Update(t.Context(), do); err != nil {
		t.Fatal(err)
	}
}

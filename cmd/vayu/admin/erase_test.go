package admin

import (
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"vayu/internal/access/accesstest"
	"vayu/internal/access/account"
	"vayu/internal/access/audit"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/dump"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/schema"
)

func TestErasingAnAccountLeavesNoPersonalData(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		gone, stays := accesstest.AddTenant(t, db, "gone"), accesstest.AddTenant(t, db, "stays")
		sqlstoretest.Exec(t, db, "UPDATE api_key SET revoked_at = 1 WHERE account_id = $1", gone.ID)
		for _, a := range []string{gone.ID, stays.ID} {
			insertPersonalData(t, db, a)
		}
		before := markedTables(t, db, stays.ID)
		if marked := markedTables(t, db, gone.ID); len(marked) != 15 {
			t.Fatalf("the fixture marks %d tables, want 15: %q", len(marked), marked)
		}
		if open, err := openMatters(db.View(t.Context()), gone.ID, time.Now()); err != nil || len(open) > 0 {
			t.Fatalf("the account is not closed: %q, %v", open, err)
		}
		for range 2 { // it is idempotent
			done, err := eraseAccount(t.Context(), db, gone.ID, "command")
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range done {
				if e.Left != 0 {
					t.Errorf("%s: %d rows are left, want none", e.Table, e.Left)
				}
			}
		}
		if marked := markedTables(t, db, gone.ID); len(marked) > 0 {
			t.Errorf("personal data are left in %q", marked)
		}
		if after := markedTables(t, db, stays.ID); fmt.Sprint(after) != fmt.Sprint(before) {
			t.Errorf("the other account: got marks in %q, want %q", after, before)
		}
		if _, err := account.ByName(db.View(t.Context()), "erased-"+gone.ID); err != nil {
			t.Errorf("the account by its new name: %v", err)
		}
		err := audit.Verify(t.Context(), db, gone.ID, func(r audit.Report) {
			if r.World == schema.Live && (r.Reason != "" || r.Rows == 0) {
				t.Errorf("the audit log: %d rows, %q", r.Rows, r.Reason)
			}
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// The service erases an account whose sign-up was not confirmed, unless something of it is open.
func TestTheServiceErasesClosedAccountsOnly(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		a := accesstest.AddTenant(t, db, "pending")
		sqlstoretest.Exec(t, db, "INSERT INTO signup (account_id, email, created_at, expires_at) VALUES ($1, 'asha@example.com', 1, 2)", a.ID)
		if err := EraseClosed(t.Context(), db, a.ID); err == nil || !strings.Contains(err.Error(), "2 active keys") {
			t.Fatalf("with active keys: got %v, want an error that counts them", err)
		}
		sqlstoretest.Exec(t, db, "UPDATE api_key SET expires_at = 1 WHERE account_id = $1", a.ID)
		if err := EraseClosed(t.Context(), db, a.ID); err != nil {
			t.Fatal(err)
		}
		var left int
		if err := db.View(t.Context()).QueryRow("SELECT count(*) FROM signup").Scan(&left); err != nil || left > 0 {
			t.Errorf("%d sign-ups are left, %v", left, err)
		}
		var actor string
		if err := db.View(t.Context()).QueryRow("SELECT actor FROM audit WHERE account_id = $1 AND action = 'account.erase'", a.ID).Scan(&actor); err != nil || actor != "service" {
			t.Errorf("the actor is %q, %v, want service", actor, err)
		}
	})
}

// insertPersonalData gives an account a row with personal data in each table that can
// have some. Nothing of the account is open.
func insertPersonalData(t *testing.T, db *sqlstore.DB, id string) {
	t.Helper()
	mark := personalMark + id
	for _, row := range []string{
		`INSERT INTO api_key (id, account_id, mode, name, hash, prefix, last_four, scopes, allow_list, require_signature, signing_secret, created_at, revoked_at, revision)
			VALUES ('key_' || $1, $1, 'live', $2, CAST($1 AS BYTEA), '', '', '', '', 0, NULL, 1, 2, 1)`,
		"INSERT INTO session (id, hash, key_id, client, agent, created_at, expires_at) VALUES ('ses_' || $1, CAST($1 AS BYTEA), 'key_' || $1, $2, $2, 1, 2)",
		"INSERT INTO event (id, account_id, mode, type, created_at, envelope) VALUES ('evt_' || $1, $1, 'live', 'recharge.completed', 1, CAST($2 AS BYTEA))",
		"INSERT INTO outbox (event_id) SELECT 'evt_' || $1 WHERE $2 <> ''",
		`INSERT INTO webhook (id, account_id, mode, url, events, active, api_version, secret, secret_last4, created_at, revision)
			VALUES ('wh_' || $1, $1, 'live', 'https://' || $2, 'recharge.completed', 1, '', CAST($1 AS BYTEA), '', 1, 1)`,
		`INSERT INTO delivery (id, event_id, webhook_id, account_id, mode, retry_of, state, attempts, due_at, token, created_at, retried_as)
			SELECT 'dlv_' || $1, 'evt_' || $1, 'wh_' || $1, $1, 'live', '', 'waiting', 1, 1, '', 1, '' WHERE $2 <> ''`,
		`INSERT INTO attempt (delivery_id, number, at, duration, stage, http_status, error, body, recorded_at)
			VALUES ('dlv_' || $1, 1, 1, 1, 'status', 500, $2, CAST($2 AS BYTEA), 1)`,
		`INSERT INTO recharge (id, account_id, mode, ref_id, state, type, number, asked, operator, circle, detection, amount, provider, reference, provider_ref,
				sent, tries, told_pending, error_code, error_message, alarm, refund_id, refund_reason, batch_id, batch_index, created_at, finished_at, token)
			VALUES ('txn_' || $1, $1, 'live', $2, 'failed', 'prepaid', $2, '', '', '', '', 100, '', '', '', 0, 0, 0, 'invalid_number', '', '', '', $2, '', 0, 1, 1, '')`,
		`INSERT INTO verification (id, account_id, mode, ref_id, digest, same, state, method, target, ifsc, named, threshold, provider, provider_ref, sent, tries, token,
				trouble, account_status, name_match, score, verified, beneficiary, bank, branch, reasons, utr, error_code, answered_by, key_id, batch_id, batch_index,
				created_at, finished_at)
			VALUES ('ver_' || $1, $1, 'live', $2, CAST($1 AS BYTEA), CAST($1 AS BYTEA), 'success', 'upi', $2, '', 0, 0, '', '', 0, 0, '', '', '', '', 0, 0, $2, '', '',
				'', '', '', '', '', '', 0, 1, 1)`,
		"INSERT INTO upstream_step (subject, number, act, answer, first_at, last_at, times) SELECT 'ver_' || $1, 1, '', '', 1, 1, 1 WHERE $2 <> ''",
		`INSERT INTO batch (id, account_id, mode, kind, ref_id, fingerprint, state, total, successful, failed, key_id, request_id, client, created_at)
			VALUES ('bat_' || $1, $1, 'live', 'verification', $2, CAST($1 AS BYTEA), 'completed', 1, 0, 1, '', '', $2, 1)`,
		"INSERT INTO batch_item (batch_id, place, subject, outcome, refusal) VALUES ('bat_' || $1, 0, '', 'failed', CAST($2 AS BYTEA))",
		`INSERT INTO payment (id, account_id, mode, ref_id, method, amount, state, error_code, note, created_at)
			VALUES ('pay_' || $1, $1, 'live', $2, 'upi', 1, 'failed', 'x', '', 1)`,
		`INSERT INTO idempotent_reply (account_id, mode, key, fingerprint, status, body, expires_at)
			VALUES ($1, 'live', $2, CAST($1 AS BYTEA), 200, CAST($2 AS BYTEA), 1)`,
		"INSERT INTO signup (account_id, email, created_at, confirmed_at) VALUES ($1, $2, 1, 1)",
		"INSERT INTO member (id, account_id, email, role, created_at) VALUES ('mem_' || $1, $1, $2, 'owner', 1)",
		"INSERT INTO sign_in_link (id, email, member_id, created_at, expires_at) SELECT 'lnk_' || $1, $2, '', 1, 2",
		"INSERT INTO signup_invite (hash, email, created_at, expires_at, account_id) VALUES (CAST($1 AS BYTEA), $2, 1, 1, $1)",
	} {
		bytes, text := "CAST(? AS BLOB)", "?"
		if db.Name() == "postgres" {
			bytes, text = "convert_to(CAST(? AS TEXT), 'UTF8')", "CAST(? AS TEXT)"
		}
		for _, parameter := range []string{"$1", "$2"} {
			row = strings.ReplaceAll(row, "CAST("+parameter+" AS BYTEA)", strings.ReplaceAll(bytes, "?", "@"+parameter[1:]))
			row = strings.ReplaceAll(row, parameter, strings.ReplaceAll(text, "?", "@"+parameter[1:]))
		}
		row = strings.ReplaceAll(row, "@", "$")
		sqlstoretest.Exec(t, db, row, id, mark)
	}
}

// markedTables returns the tables that have the mark of an account.
func markedTables(t *testing.T, db *sqlstore.DB, id string) (marked []string) {
	t.Helper()
	dir := t.TempDir()
	m, err := dump.Write(t.Context(), db, dir)
	if err != nil {
		t.Fatal(err)
	}
	mark := personalMark + id
	for _, table := range m.Tables {
		text := readPacked(t, dir, table.File)
		if strings.Contains(text, mark) || strings.Contains(text, base64Of(mark)) {
			marked = append(marked, table.Name)
		}
	}
	return marked
}

// readPacked returns the text of a file of a dump.
func readPacked(t *testing.T, dir, file string) string {
	t.Helper()
	packed, err := os.Open(filepath.Join(dir, file))
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	reader, err := zstd.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	text, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func base64Of(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

// personalMark is in every personal column of a fixture account.
const personalMark = "9876543210"

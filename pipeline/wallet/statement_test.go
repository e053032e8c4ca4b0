package wallet

import (
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/oklog/ulid/v2"

	"vayu/internal/httpapi"
	"vayu/internal/pagination"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/schema"
)

func TestStatementListsEntries(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *walletFixture) {
		key, o := s.key(schema.Sandbox), s.one.In(schema.Sandbox)
		paid := s.Do(key, "POST", topups, `{"amount":1000}`).Want(t, "a payment", 200).TextAt("payment_id")
		var want []any
		line := func(subject, kind string, at time.Time, available, held float64) {
			want = append([]any{map[string]any{
				"subject": subject, "kind": kind, "at": at.Format("2006-01-02T15:04:05.000000Z"), "available": available, "held": held,
			}}, want...)
		}
		line(paid, "topup", noon, 1000, 0)
		for i, acts := range [][]string{
			{kindReserve, kindCommit, kindRefund}, {kindReserve, kindRelease, kindSuspend}, {kindReserve},
		} {
			subject := "txn_" + ulid.MustNewDefault(s.Now()).String()
			for _, name := range acts {
				s.clock.Advance(time.Minute)
				now := s.Now()
				sqlstoretest.Update(t, s.DB, func(tx *sqlstore.Tx) error { return actAt(tx, now, o, name, subject, schema.Paise(100*(i+1))) })
				amount := float64(i + 1)
				switch name {
				case kindReserve:
					line(subject, name, now, -amount, amount)
				case kindCommit:
					line(subject, name, now, 0, -amount)
				case kindRelease:
					line(subject, name, now, amount, -amount)
				case kindRefund:
					line(subject, name, now, amount, 0)
				}
			}
		}
		all := s.Do(key, "GET", "/v1/wallet/entries", "").Want(t, "the statement", 200)
		if diff := cmp.Diff(want, all.At("data")); diff != "" {
			t.Error(diff)
		}
		kinds := []string{"reserve", "release", "reserve", "refund", "commit", "reserve", "topup"}
		if diff := cmp.Diff(kinds, pages(t, s, "/v1/wallet/entries?limit=2", "kind")); diff != "" {
			t.Errorf("by pages: %s", diff)
		}
		if got := pages(t, s, "/v1/wallet/entries?limit=1&from=2026-11-20T12:01:00Z&to=2026-11-20T12:03:00Z", "kind"); !cmp.Equal(got, []string{"commit", "reserve"}) {
			t.Errorf("of some minutes: %v", got)
		}
		for _, query := range []string{"", "&from=2026-11-20T12:01:00Z&to=2026-11-20T12:03:00Z", "&subject=" + paid, "&to=2020-01-01"} {
			sums := map[string]any{"complete": true, "count": 0.0, "available": 0.0, "held": 0.0}
			for _, e := range s.Do(key, "GET", "/v1/wallet/entries?limit=1000"+query, "").At("data").([]any) {
				entry := e.(map[string]any)
				sums["count"] = sums["count"].(float64) + 1
				for _, part := range []string{"available", "held"} {
					sums[part] = sums[part].(float64) + entry[part].(float64)
				}
			}
			first := s.Do(key, "GET", "/v1/wallet/entries?limit=1&totals=true"+query, "").Want(t, query, 200)
			if diff := cmp.Diff(sums, first.At("totals")); diff != "" {
				t.Errorf("totals of %q (-want +got):\n%s", query, diff)
			}
			if cursor := first.TextAt("next_cursor"); cursor != "" {
				next := s.Do(key, "GET", "/v1/wallet/entries?limit=1&totals=true"+query+"&cursor="+url.QueryEscape(cursor), "").Want(t, "the next page", 200)
				if strings.Contains(next.Text, "totals") {
					t.Errorf("the next page has totals: %s", next.Text)
				}
			}
		}
		s.Do(key, "GET", "/v1/wallet/entries?totals=all", "").WantError(t, "totals", 400, schema.InvalidRequest, "totals")
		if other := s.Do(s.key(schema.Live), "GET", "/v1/wallet/entries", ""); len(other.At("data").([]any)) != 0 {
			t.Errorf("the other world: %s", other.Text)
		}
	})
}

// Pages neither lose nor repeat entries of one instant.
func TestPagesOfEqualTimes(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *walletFixture) {
		o := s.one.In(schema.Sandbox)
		s.Do(s.key(schema.Sandbox), "POST", topups, `{"amount":1000}`)
		var subjects []string
		for range 4 {
			subjects = append(subjects, "txn_"+ulid.MustNewDefault(noon).String())
		}
		slices.Sort(subjects) // concurrent tests also create ids, so those of one millisecond need not ascend
		for i, subject := range subjects {
			sqlstoretest.Update(t, s.DB, func(tx *sqlstore.Tx) error { return act(tx, o, kindReserve, subject, 100) })
			sqlstoretest.Update(t, s.DB, func(tx *sqlstore.Tx) error { return act(tx, o, []string{kindCommit, kindRelease}[i%2], subject, 100) })
		}
		whole := pages(t, s, "/v1/wallet/entries?limit=1000", "kind")
		want := []string{"release", "reserve", "commit", "reserve", "release", "reserve", "commit", "reserve", "topup"}
		if diff := cmp.Diff(want, whole); diff != "" {
			t.Error(diff)
		}
		for limit := range 5 {
			if got := pages(t, s, fmt.Sprintf("/v1/wallet/entries?limit=%d", limit+1), "kind"); !cmp.Equal(got, want) {
				t.Errorf("%d on a page: %v", limit+1, got)
			}
		}
	})
}

// The statement of a subject has all its entries and no others.
func TestEntriesOfSubject(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *walletFixture) {
		key, o := s.key(schema.Sandbox), s.one.In(schema.Sandbox)
		paid := s.Do(key, "POST", topups, `{"amount":1000}`).TextAt("payment_id")
		var ids []string
		for range 3 {
			subject := "txn_" + ulid.MustNewDefault(noon).String()
			ids = append(ids, subject)
			for i, name := range []string{kindReserve, kindCommit, kindRefund} {
				sqlstoretest.Update(t, s.DB, func(tx *sqlstore.Tx) error {
					return actAt(tx, noon.Add(time.Duration(i)*time.Hour), o, name, subject, 100)
				})
			}
		}
		for query, want := range map[string][]string{
			ids[1] + "&limit=2":                   {"refund", "commit", "reserve"},
			ids[1] + "&from=2026-11-20T13:00:00Z": {"refund", "commit"},
			paid:                                  {"topup"},
			"txn_01KAJ0A6Q3W8Y1B4D7F0H2K5M9":      nil,
		} {
			path := "/v1/wallet/entries?subject=" + query
			if diff := cmp.Diff(want, pages(t, s, path, "kind")); diff != "" {
				t.Errorf("%s (-want +got):\n%s", query, diff)
			}
			for _, got := range pages(t, s, path, "subject") {
				if got != query[:len(got)] {
					t.Errorf("%s has an entry of %s", query, got)
				}
			}
		}
		for what, stranger := range map[string]string{"the other world": s.key(schema.Live), "another account": s.two.Keys[schema.Sandbox]} {
			if other := s.Do(stranger, "GET", "/v1/wallet/entries?subject="+ids[0], "").Want(t, what, 200); len(other.At("data").([]any)) != 0 {
				t.Errorf("%s: %s", what, other.Text)
			}
		}
		first := s.Do(key, "GET", "/v1/wallet/entries?limit=1&subject="+ids[0], "")
		for _, query := range []string{"", "&subject=" + ids[1]} {
			s.Do(key, "GET", "/v1/wallet/entries?cursor="+first.TextAt("next_cursor")+query, "").
				WantError(t, "a cursor of another list", 400, schema.InvalidRequest, "cursor")
		}
		owner := &httpapi.Call{Principal: httpapi.Principal{Account: s.one.ID, World: schema.Sandbox}}
		list := "entries?" + url.Values{"subject": {""}, "span": spanName(math.MinInt64, math.MaxInt64)}.Encode()
		s.Do(key, "GET", "/v1/wallet/entries?cursor="+*pagination.Cursor(owner, list, "yesterday"), "").
			WantError(t, "a forged position", 400, schema.InvalidRequest, "cursor")
	})
}

// The entries of a subject are read without a scan of the account. PostgreSQL has enough rows
// to prefer the index.
func TestStatementQueriesUseIndices(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *walletFixture) {
		want := map[string]string{selectLines: "posting_account", selectSubjectLines: "sqlite_autoindex_posting_1 (subject=?)"}
		if s.DB.Name() == "postgres" {
			want[selectSubjectLines] = "posting_pkey"
			sqlstoretest.Exec(t, s.DB, `INSERT INTO posting (subject, kind, ledger, account_id, mode, amount, at)
				SELECT 'txn_' || n, 'reserve', 'available', $1, 'live', 0, n FROM generate_series(1, 20000) n`, s.one.ID)
			sqlstoretest.Exec(t, s.DB, "ANALYZE")
		}
		for query, index := range want {
			args := []any{s.one.ID, "live", 0, 1 << 60, 1 << 60, "txn_1", "reserve", 101}
			if query == selectSubjectLines {
				args = append(args, "txn_1")
			}
			if plan := sqlstoretest.Plan(t, s.DB, query, args...); !strings.Contains(plan, index) || strings.Contains(plan, "Seq Scan") || strings.Contains(plan, "SCAN posting") {
				t.Errorf("%s does not use %s:\n%s", query, index, plan)
			}
		}
	})
}

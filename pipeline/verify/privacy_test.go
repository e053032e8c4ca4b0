package verify

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"time"

	"vayu/internal/sqlstore"
	"vayu/pipeline/transaction"
	"vayu/pipeline/verify/bank"
	"vayu/pipeline/verify/request"
	"vayu/schema"
)

// dump returns the content of some tables of the store, or of all, as text.
func (s *serviceFixture) dump(tables ...string) string {
	s.t.Helper()
	if tables == nil {
		query := "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
		if s.DB.Name() == "postgres" {
			query = "SELECT table_name || '' FROM information_schema.tables WHERE table_schema = current_schema() AND table_type = 'BASE TABLE'"
		}
		tables = s.texts(query)
		if len(tables) < 10 {
			s.t.Fatalf("there are only %q", tables)
		}
	}
	var all strings.Builder
	for _, table := range tables {
		fmt.Fprintf(&all, "%s\n", table)
		for _, row := range s.rows(table) {
			fmt.Fprintf(&all, "\t%s\n", row)
		}
	}
	return all.String()
}

// rows returns the rows of a table, with bytes both raw and in hex.
func (s *serviceFixture) rows(table string) []string {
	s.t.Helper()
	columns := "SELECT name FROM pragma_table_info($1)"
	if s.DB.Name() == "postgres" {
		columns = "SELECT column_name || '' FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = $1"
	}
	names := s.texts(columns, table)
	all, err := sqlstore.All(s.DB.View(s.t.Context()), func(row sqlstore.Scanner) (string, error) {
		cells := make([]any, len(names))
		for i := range cells {
			cells[i] = new(any)
		}
		err := row.Scan(cells...)
		var text strings.Builder
		for _, cell := range cells {
			switch v := (*cell.(*any)).(type) {
			case []byte:
				fmt.Fprintf(&text, "%s|%s|", v, hex.EncodeToString(v))
			default:
				fmt.Fprintf(&text, "%v|", v)
			}
		}
		return text.String(), err
	}, "SELECT * FROM "+table)
	if err != nil {
		s.t.Fatal(err)
	}
	return all
}

// wantHidden checks that a text holds no complete number or address.
func (s *serviceFixture) wantHidden(where, text string, secrets ...string) {
	s.t.Helper()
	local, _, _ := strings.Cut(anAddress, "@")
	for _, secret := range append(secrets, anAccount, local, strings.ToUpper(local)) {
		for _, form := range []string{secret, hex.EncodeToString([]byte(secret))} {
			if i := strings.Index(text, form); i >= 0 {
				s.t.Errorf("%s holds %q: …%s…", where, form, text[max(0, i-200):min(len(text), i+100)])
			}
		}
	}
}

// Store, audit log and log hold no account number or address in any state. After the end they
// cannot be recovered even with the key.
func TestAccountsAndAddressesAreNotDisclosed(t *testing.T) {
	t.Parallel()
	const name = "Padmavathi Venkataraman"
	eachStore(t, func(t *testing.T, s *serviceFixture) {
		s.set(func(c *Settings) { c.Cache, c.EnumerationThreshold = time.Hour, 1 })
		s.addBatch("bat_1", 1)
		for what, say := range map[string]func(bank.Order) (bank.Answer, error){
			"pending": answers(bank.Answer{Outcome: bank.Pending}), "lost": fails(errLost), "panic": func(bank.Order) (bank.Answer, error) { panic("bank") },
			"missing": answers(bank.Answer{Outcome: bank.NotFound}), "found": answers(foundAnswer(strings.ToUpper(name))), "unknown": answers(bank.Answer{Outcome: bank.Unknown}),
		} {
			s.bank.set(func() { s.bank.deposit, s.bank.enquire, s.bank.resolve = say, say, say })
			for _, q := range []request.Request{s.request(), s.address()} {
				q.Name = name
				r := s.do(q)
				if pending := r.State == schema.VerificationPending; pending != (r.Encrypted != nil) {
					t.Errorf("%s: it is %s and %d bytes are sealed", what, r.State, len(r.Encrypted))
				}
				s.wantHidden(what, s.dump(), name) // the bank's name is in capitals
				s.wantHidden(what+": the audit log", s.dump("audit"), name, strings.ToUpper(name))
			}
			s.exec("UPDATE verification SET finished_at = 1 WHERE finished_at IS NOT NULL") // no answer serves again
		}
		q := s.request()
		q.Item = &transaction.BatchItem{Batch: "bat_1", Index: 0}
		s.do(q)
		for range 3 { // there are four slots for nine
			s.advance(25 * time.Hour)
		}
		if left := s.texts("SELECT id || ' ' || state || ' ' || trouble || ' ' || token || ' ' || tries FROM verification WHERE state = 'pending' OR private IS NOT NULL"); len(left) != 0 {
			t.Errorf("%q are pending, or still know what they were about", left)
		}
		s.wantHidden("in the end", s.dump(), name)
		s.wantHidden("the log", s.log.String(), name, strings.ToUpper(name))
		if got, want := s.dump("event"), strings.ToUpper(name); !strings.Contains(got, want) {
			t.Errorf("the events have no %q:\n%s", want, got)
		}
		if got, want := s.dump("audit"), "name_hash"; !strings.Contains(got, want) {
			t.Errorf("the audit log has no %q:\n%s", want, got)
		}
	})
}

// Encrypted data can be decrypted in its own row only.
func TestEncryptedDataIsBoundToItsRow(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *serviceFixture) {
		s.bank.set(func() { s.bank.deposit = answers(bank.Answer{Outcome: bank.Pending}) })
		one, other := s.do(s.request()), s.do(s.request())
		if p, err := s.decryptPrivate(&one); err != nil || p != (request.Private{Account: anAccount, IFSC: aBranch, Name: aName}) {
			t.Errorf("got %+v, %v", p, err)
		}
		s.bank.calls()
		s.exec("UPDATE verification SET private = (SELECT private FROM verification WHERE id = $1) WHERE id = $2", one.ID, other.ID)
		s.advance(time.Minute)
		s.wantCalls("with one that was moved", "enquire")
		if got := s.metric("vayu_verify_unopened_total"); got != 1 || s.log.Count("cannot be decrypted") != 1 {
			t.Errorf("%v are counted: %s", got, s.log)
		}
		if got := s.record(other.ID).State; got != schema.VerificationPending {
			t.Errorf("it is %s, want pending", got)
		}
		if busy := s.connections[0].Slots().InFlight; busy != 0 {
			t.Errorf("%d slots are in use, want none", busy)
		}
		if _, err := s.Settle(t.Context(), schema.Live, "puppet", other.ID, foundAnswer("A"), "x"); err == nil {
			t.Error("it was settled with what belongs to another")
		}
	})
}

// Finished verifications are deleted after the retention time. Those of a batch remain as long
// as its results. Pending ones are never deleted.
func TestRetention(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *serviceFixture) {
		s.set(func(c *Settings) { c.Retention = 48 * time.Hour })
		s.addBatch("bat_1", 1)
		q := s.request()
		q.Item = &transaction.BatchItem{Batch: "bat_1", Index: 0}
		old, record := s.do(s.request()), s.do(q)
		s.bank.set(func() { s.bank.deposit = answers(bank.Answer{Outcome: bank.Pending}) })
		pending := s.do(s.request())
		s.clock.Advance(47 * time.Hour)
		s.bank.set(func() { s.bank.deposit = nil })
		young := s.do(s.request())
		ids := func() string {
			return strings.Join(s.texts("SELECT id FROM verification ORDER BY id"), " ")
		}
		want := func(what string, left ...Record) {
			t.Helper()
			s.deleteOld(t.Context())
			var all []string
			for _, r := range left {
				all = append(all, r.ID)
			}
			for _, id := range all {
				if !strings.Contains(ids(), id) {
					t.Errorf("%s: %s is not there", what, id)
				}
			}
			if got := ids(); len(strings.Fields(got)) != len(all) {
				t.Errorf("%s: %s are there, want %q", what, got, all)
			}
		}
		want("soon", old, record, pending, young)
		s.clock.Advance(time.Hour + time.Second)
		want("after two days", record, pending, young)
		s.clock.Advance(5*24*time.Hour - time.Minute) // seven days after the batch was completed
		want("before the results expire", record, pending)
		s.clock.Advance(3 * 24 * time.Hour)
		want("while its batch shows it", record, pending)
		s.exec("DELETE FROM batch_item")
		want("long afterwards", pending)
		if got := s.metric("vayu_verify_deleted_total"); got != 3 {
			t.Errorf("%v are counted", got)
		}
	})
}

// Many rows are deleted in several transactions; without a retention time none.
func TestRetentionInBatches(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *serviceFixture) {
		s.insertMany(3000)
		s.set(func(c *Settings) { c.Retention = 0 })
		s.deleteOld(t.Context())
		if got := s.number("SELECT count(*) FROM verification"); got != 3000 {
			t.Errorf("%d are left", got)
		}
		s.set(func(c *Settings) { c.Retention = time.Hour })
		s.deleteOld(t.Context())
		if got := s.number("SELECT count(*) FROM verification"); got != 3 { // which are pending
			t.Errorf("%d are left", got)
		}
	})
}

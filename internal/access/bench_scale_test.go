package access

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"vayu/internal/access/account"
	"vayu/internal/access/apikey"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/schema"
)

// BenchmarkScaleUsage measures a flush of the calls of many accounts. An instance flushes every 400
// ms, in one transaction that locks the accounts' rows. The floor is the commit of one row.
func BenchmarkScaleUsage(b *testing.B) {
	for engine, open := range map[string]func(testing.TB) *sqlstore.DB{"sqlite": sqlstoretest.SQLite, "postgres": sqlstoretest.Postgres} {
		for _, accounts := range [...]int{10, 100, 1_000, 4_000} {
			b.Run(fmt.Sprintf("%s/accounts=%d", engine, accounts), func(b *testing.B) { benchUsage(b, open(b), accounts) })
		}
	}
}

func benchUsage(b *testing.B, db *sqlstore.DB, accounts int) {
	b.Helper()
	s := newServiceFixture(b, db, nil)
	keys := make([]string, accounts)
	const step = 500
	for from := 0; from < accounts; from += step {
		sqlstoretest.Update(b, db, func(tx *sqlstore.Tx) error {
			for i := from; i < min(from+step, accounts); i++ {
				holder, _, err := account.Create(tx, s.Settings.Plans, fmt.Sprint("crowd-", i), "unlimited", time.Now())
				if err != nil {
					return err
				}
				made, _, err := apikey.Create(tx, s.Cipher, apikey.Spec{Account: holder.ID, World: schema.Live}, time.Now())
				if err != nil {
					return err
				}
				keys[i] = made.Key
			}
			return nil
		})
	}
	s.refresh()
	const times = 5
	var writing, floor time.Duration
	for n := range times {
		for _, key := range keys {
			pass, c := s.admitted(key)
			pass.End(c, http.StatusOK)
		}
		began := time.Now()
		s.write()
		writing += time.Since(began)
		began = time.Now()
		sqlstoretest.Exec(b, db, "INSERT INTO seen_signature (key_id, signature, expires_at) VALUES ($1, $2, 1)", fmt.Sprint("key_", n), []byte("signature"))
		floor += time.Since(began)
	}
	b.ReportMetric(writing.Seconds()*1e3/times, "ms/writing") // of 400
	b.ReportMetric(writing.Seconds()*1e6/float64(times*accounts), "µs/account")
	b.ReportMetric(writing.Seconds()/floor.Seconds(), "x-floor")
}

package sqlstore_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
)

// BenchmarkCommit measures durable one-row transactions on both engines: sequential ones, and 64 concurrent
// ones in the same run.
func BenchmarkCommit(b *testing.B) {
	for _, name := range []string{"sqlite", "postgres"} {
		b.Run(name, func(b *testing.B) {
			c := sqlstore.Config{Data: b.TempDir()}
			if name == "postgres" {
				c.DSN = sqlstoretest.PostgresDSN(b)
			}
			reg := prometheus.NewRegistry()
			db := sqlstoretest.Open(b, c, reg)
			var id atomic.Int64
			one := func() {
				n := id.Add(1)
				if err := db.Update(context.Background(), func(tx *sqlstore.Tx) error {
					_, err := tx.Exec("INSERT INTO seen_signature (key_id, signature, expires_at) VALUES ($1, $2, $3)", fmt.Sprint("key_", n), []byte("signature"), n)
					return err
				}); err != nil {
					b.Error(err)
				}
			}
			alone := max(b.N/16, 50)
			began := time.Now()
			for range alone {
				one()
			}
			single := float64(alone) / time.Since(began).Seconds()
			commits := counter(b, reg, "vayu_state_commits_total")
			var left atomic.Int64
			left.Store(int64(b.N))
			var wait sync.WaitGroup
			b.ResetTimer()
			for range 64 {
				wait.Go(func() {
					for left.Add(-1) >= 0 {
						one()
					}
				})
			}
			wait.Wait()
			b.StopTimer()
			var rows int
			if err := db.View(b.Context()).QueryRow("SELECT count(*) FROM seen_signature").Scan(&rows); err != nil || rows != alone+b.N {
				b.Fatalf("the store has %d rows, %v, want %d", rows, err, alone+b.N)
			}
			together := float64(b.N) / b.Elapsed().Seconds()
			b.ReportMetric(single, "alone/s")
			b.ReportMetric(together, "together/s")
			b.ReportMetric(together/single, "ratio")
			b.ReportMetric(float64(b.N)/(counter(b, reg, "vayu_state_commits_total")-commits), "changes/commit")
		})
	}
}

package recharge

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"vayu/dispatch/outbox"
	"vayu/internal/access/accesstest"
	"vayu/internal/httpapi"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/pipeline/recharge/order"
	"vayu/pipeline/recharge/request"
	"vayu/pipeline/recharge/settle"
	"vayu/pipeline/transaction"
	"vayu/schema"
)

// prompt is a provider that answers at once.
type prompt struct{}

func (prompt) Submit(context.Context, order.Order) (order.Answer, error) {
	return order.Answer{Outcome: order.Succeeded, ProviderRef: "0123456789"}, nil
}

func (prompt) Enquire(context.Context, order.Order) (order.Answer, error) {
	return order.Answer{Outcome: order.Succeeded}, nil
}

// BenchmarkRecharge measures recharges a second from Do to their final state, with
// postings, events and audit rows. It has 64 callers and a provider that answers at once.
// Its floor writes the same rows in two commits each. Of batch items 256 are in flight,
// which share 32 slots.
func BenchmarkRecharge(b *testing.B) {
	for name, c := range map[string]benchCase{"accounts=1": {1, 64, false}, "accounts=16": {16, 64, false}, "batch": {1, 256, true}} {
		b.Run(name, func(b *testing.B) {
			b.Run("sqlite", func(b *testing.B) { benchRecharge(b, sqlstoretest.SQLite(b), c) })
			b.Run("postgres", func(b *testing.B) { benchRecharge(b, sqlstoretest.Postgres(b), c) })
		})
	}
}

type benchCase struct {
	accounts, callers int
	batch             bool
}

func benchRecharge(b *testing.B, db *sqlstore.DB, c benchCase) {
	b.Helper()
	events := outbox.New(outbox.Config{DB: db})
	owners := make([]schema.Owner, c.accounts)
	for i := range owners {
		owners[i] = accesstest.AddTenant(b, db, fmt.Sprint("shop", i)).In(schema.Live)
		sqlstoretest.Exec(b, db, "INSERT INTO wallet (account_id, mode, available, held) VALUES ($1, 'live', 1000000000000, 0)", owners[i].Account)
	}
	addBatch(b, db, owners[0], b.N)
	s, err := New(Config{Options: transaction.Options{DB: db, Events: events}, Connections: []order.Connection{{
		Link: transaction.Link{Name: "prompt", Timeout: 10 * time.Second, Concurrency: 64}, Operator: prompt{},
	}}})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	floor := concurrently(b, c.callers, b.N, func(caller, i int) error { return rawRecharge(db, owners[caller%c.accounts], i) })
	b.ResetTimer()
	rate := concurrently(b, c.callers, b.N, func(caller, i int) error {
		q := request.Request{
			Origin: transaction.Origin{Owner: owners[caller%c.accounts], Caller: httpapi.Who{Key: "key_01KAHJ9T6Z3M4Q5R6S7T8V9W0X", Request: "req_01KAHJ9T6Z3M4Q5R6S7T8V9W0X", Client: "192.0.2.1"}},
			RefID:  fmt.Sprint("ref-", i), Type: schema.Prepaid, Number: "9810012345", Valid: true, RequestedOperator: "Airtel", Amount: 199_00,
		}
		if c.batch {
			q.Item = &transaction.BatchItem{Batch: "rbt_1", Index: i}
		}
		rec, _, err := s.Do(ctx, q, time.Minute)
		if err == nil && rec.State != schema.RechargeSuccess {
			err = fmt.Errorf("%s is %s", rec.ID, rec.State)
		}
		return err
	})
	b.StopTimer()
	b.ReportMetric(rate, "recharges/s")
	b.ReportMetric(floor, "floor/s")
	b.ReportMetric(rate/floor, "x-floor")
	cancel()
	if err := <-ended; err != nil {
		b.Error(err)
	}
	var rows, posted int
	if err := db.View(b.Context()).QueryRow("SELECT (SELECT count(*) FROM recharge WHERE state = 'success' AND ref_id LIKE 'ref-%'), (SELECT count(*) FROM posting WHERE kind = 'commit')").
		Scan(&rows, &posted); err != nil {
		b.Fatal(err)
	}
	if rows != b.N {
		b.Errorf("%d recharges are successful, want %d", rows, b.N)
	}
	if posted != 4*b.N {
		b.Errorf("%d postings are stored, want %d", posted, 4*b.N)
	}
}

// concurrently calls work n times in all, from concurrent goroutines. It returns calls per second.
func concurrently(b *testing.B, callers, n int, work func(caller, i int) error) float64 {
	b.Helper()
	var left atomic.Int64
	left.Store(int64(n))
	began := time.Now()
	var all sync.WaitGroup
	for caller := range callers {
		all.Go(func() {
			for i := left.Add(-1); i >= 0; i = left.Add(-1) {
				if err := work(caller, int(i)); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	return float64(n) / time.Since(began).Seconds()
}

// rawRecharge writes the rows of a recharge in its two commits.
func rawRecharge(db *sqlstore.DB, o schema.Owner, i int) error {
	id := fmt.Sprintf("txn_raw%023d", i)
	event := fmt.Sprintf("evt_raw%023d", i)
	post := func(tx *sqlstore.Tx, kind, from, to string) error {
		_, err := tx.Exec(`INSERT INTO posting (subject, kind, ledger, account_id, mode, amount, at)
			VALUES ($1, $2, $3, $5, 'live', -19900, 1), ($1, $2, $4, $5, 'live', 19900, 1)`, id, kind, from, to, o.Account)
		return err
	}
	audit := func(tx *sqlstore.Tx, seq int) error {
		_, err := tx.Exec(`INSERT INTO audit (account_id, mode, seq, at, actor, action, subject, request_id, client, detail, hash)
			VALUES ($1, 'live', $2, 1, 'operator', 'recharge.success', $3, '', '', $4, $5)`,
			o.Account, 1_000_000_000+2*i+seq, id, `{"amount":199,"operator":"Airtel","provider":"prompt"}`, make([]byte, 32))
		return err
	}
	err := db.Update(context.Background(), func(tx *sqlstore.Tx) error {
		if _, err := tx.Exec(insertRow, id, o.Account, "live", id, "pending", "prepaid", "9810012345", "Airtel", "Airtel", "Delhi", "", 199_00, "prompt", id,
			1, 1, 1, "01M801MYQER7BBYTP2C4CBF8RH.1", "", "", "", 0, 1, nil); err != nil {
			return err
		}
		if err := post(tx, "reserve", "available", "held"); err != nil {
			return err
		}
		return audit(tx, 0)
	})
	if err != nil {
		return err
	}
	envelope := make([]byte, 330)
	return db.Update(context.Background(), func(tx *sqlstore.Tx) error {
		if _, err := tx.Exec(settle.FinishRow, id, id, "success", "0123456789", "Delhi", "", "", nil, 1, nil); err != nil {
			return err
		}
		if err := post(tx, "commit", "held", "clearing:Airtel"); err != nil {
			return err
		}
		if _, err := tx.Exec("INSERT INTO event (id, account_id, mode, type, created_at, envelope) VALUES ($1, $2, 'live', 'recharge.completed', 1, $3)", event, o.Account, envelope); err != nil {
			return err
		}
		if _, err := tx.Exec("INSERT INTO outbox (event_id) VALUES ($1)", event); err != nil {
			return err
		}
		return audit(tx, 1)
	})
}

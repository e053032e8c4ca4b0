package dispatch_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"vayu/dispatch/kafka"
	"vayu/dispatch/webhook"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/internal/topic"
	"vayu/internal/topic/broker"
	"vayu/schema"
)

// bareClientRate posts the same signed bytes to the same receiver with a bare pooled
// client, eight at a time. It returns the posts a second.
func bareClientRate(b *testing.B, r *receiver, n int) float64 {
	b.Helper()
	client := r.Client()
	client.Transport.(*http.Transport).MaxIdleConnsPerHost = 8
	body := []byte(`{"id":"evt_01KAHJ9T6Z3M4Q5R6S7T8V9W0X","type":"payment.succeeded","created":1795240800,"api_version":"2026-11-01","data":{"payment_id":"pay_01","amount":499.5,"currency":"INR","method":"upi","at":1795240800123456789}}`)
	signature := webhook.Sign(body, time.Now(), secret)
	var left atomic.Int64
	left.Store(int64(n))
	began := time.Now()
	var posting sync.WaitGroup
	for range 8 {
		posting.Go(func() {
			for left.Add(-1) >= 0 {
				req, err := http.NewRequest(http.MethodPost, r.URL, bytes.NewReader(body))
				if err != nil {
					b.Error(err)
					return
				}
				req.Header.Set("Content-Type", "application/json")
				req.Header.Set(webhook.Header, signature)
				resp, err := client.Do(req)
				if err != nil {
					b.Error(err)
					return
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
			}
		})
	}
	posting.Wait()
	return float64(n) / time.Since(began).Seconds()
}

// BenchmarkWebhooks measures the deliveries a second from a committed event to a
// recorded 2xx. Its floor is a bare client in the same run. The events of a backlog have been committed before the relay
// and the dispatcher start.
func BenchmarkWebhooks(b *testing.B) {
	for _, secure := range []bool{false, true} {
		for _, endpoints := range []int{1, 8} {
			b.Run(fmt.Sprintf("tls=%v/endpoints=%d", secure, endpoints), func(b *testing.B) {
				b.Run("sqlite", func(b *testing.B) { benchThroughput(b, sqlstoretest.SQLite(b), b.N, secure, endpoints, nil) })
				b.Run("postgres", func(b *testing.B) { benchThroughput(b, sqlstoretest.Postgres(b), b.N, secure, endpoints, nil) })
				b.Run("backlog in postgres", func(b *testing.B) { benchBacklog(b, sqlstoretest.Postgres(b), b.N, secure, endpoints) })
				b.Run("kafka", func(b *testing.B) { benchThroughput(b, sqlstoretest.SQLite(b), b.N, secure, endpoints, benchTopic(b)) })
			})
		}
	}
}

// benchTopic creates a topic on the broker that VAYU_TEST_KAFKA names.
func benchTopic(b *testing.B) *kafka.Log {
	b.Helper()
	address := os.Getenv("VAYU_TEST_KAFKA")
	if address == "" {
		b.Skip("VAYU_TEST_KAFKA is not set; .ci/kafka starts a broker and prints it")
	}
	settings := broker.DefaultSettings()
	name := "bench." + rand.Text()
	settings.Topic, settings.DeadTopic, settings.Group = name, name+".dead", name
	log, err := kafka.New(topic.Config{Settings: settings, Brokers: []string{address}})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = log.Close() })
	return log
}

// benchThroughput measures the delivery of n events.
func benchThroughput(b *testing.B, db *sqlstore.DB, n int, secure bool, endpoints int, log *kafka.Log) {
	b.Helper()
	o, r, accounts, bare := benchFixture(b, db, n, secure, endpoints)
	o.log = log
	stop := o.run()
	o.appendEvent(accounts[0]) // a group of Kafka is joined in seconds
	r.wait(b, 1)
	b.ResetTimer()
	began := time.Now()
	o.fire(n, accounts)
	r.wait(b, n+1)
	o.waitSettled()
	rate := float64(n) / time.Since(began).Seconds()
	b.StopTimer()
	reportThroughput(b, rate, bare)
	stop()
}

// benchBacklog measures the delivery of n events that have been committed before.
func benchBacklog(b *testing.B, db *sqlstore.DB, n int, secure bool, endpoints int) {
	b.Helper()
	o, r, accounts, bare := benchFixture(b, db, n, secure, endpoints)
	o.fire(n, accounts)
	b.ResetTimer()
	began := time.Now()
	stop := o.run()
	r.wait(b, n)
	o.waitSettled()
	rate := float64(n) / time.Since(began).Seconds()
	b.StopTimer()
	reportThroughput(b, rate, bare)
	stop()
}

// benchFixture subscribes accounts to a receiver. It returns the rate of a bare client to this receiver, too.
func benchFixture(b *testing.B, db *sqlstore.DB, n int, secure bool, endpoints int) (o *fixture, r *receiver, accounts []string, bare float64) {
	b.Helper()
	r = receive(b, secure, nil)
	var roots *x509.CertPool
	if secure {
		roots = x509.NewCertPool()
		roots.AddCert(r.Certificate())
	}
	bare = bareClientRate(b, r, n)
	r.mu.Lock()
	clear(r.seen)
	r.mu.Unlock()
	o = newFixture(b, db, roots)
	for i := range endpoints {
		accounts = append(accounts, o.account(fmt.Sprint("a", i)))
		o.subscribe(accounts[i], r.URL)
	}
	return o, r, accounts, bare
}

// fire commits n events, each in a change of its own, with 64 goroutines.
func (o *fixture) fire(n int, accounts []string) {
	var left atomic.Int64
	left.Store(int64(n))
	var firing sync.WaitGroup
	for worker := range 64 {
		firing.Go(func() {
			for left.Add(-1) >= 0 {
				o.appendEvent(accounts[worker%len(accounts)])
			}
		})
	}
	firing.Wait()
}

func reportThroughput(b *testing.B, rate, bare float64) {
	b.Helper()
	b.ReportMetric(rate, "deliveries/s")
	b.ReportMetric(bare, "floor/s")
	b.ReportMetric(rate/bare, "x-floor")
}

// BenchmarkWebhookLatency measures the time from the commit of an event to its
// receipt, at 200 events a second. It runs alone, and beside 640 events for an endpoint
// that answers after 4 s. It also runs beside 400 such endpoints, and beside 1,000
// endpoints that do not answer.
func BenchmarkWebhookLatency(b *testing.B) {
	b.Run("alone", func(b *testing.B) { benchLatency(b, func(*fixture) {}) })
	b.Run("slow-neighbour", func(b *testing.B) {
		slow := receive(b, false, func(_ http.ResponseWriter, req *http.Request) {
			select {
			case <-time.After(4 * time.Second):
			case <-req.Context().Done():
			}
		})
		benchLatency(b, func(o *fixture) {
			other := o.account("slow")
			o.subscribe(other, slow.URL)
			for range 640 {
				o.appendEvent(other)
			}
			slow.wait(b, 2)
		})
	})
	b.Run("slow-neighbours", func(b *testing.B) {
		slow := receive(b, false, func(_ http.ResponseWriter, req *http.Request) {
			select {
			case <-time.After(4 * time.Second):
			case <-req.Context().Done():
			}
		})
		benchLatency(b, func(o *fixture) {
			other := o.account("slow")
			for i := range 400 {
				o.subscribe(other, fmt.Sprintf("%s/%d", slow.URL, i))
			}
			for range 20 {
				o.appendEvent(other)
			}
			slow.wait(b, 1)
		})
	})
	b.Run("dead-neighbours", func(b *testing.B) {
		dead := receive(b, false, func(_ http.ResponseWriter, req *http.Request) { <-req.Context().Done() })
		benchLatency(b, func(o *fixture) {
			other := o.account("dead")
			for i := range 1000 {
				o.subscribe(other, fmt.Sprintf("%s/%d", dead.URL, i))
			}
			for range 3 {
				o.appendEvent(other)
			}
			dead.wait(b, 1)
		})
	})
}

// BenchmarkFailingNeighbour measures the latency of an endpoint beside 20,000
// deliveries that the endpoint of another account rejects. It is a ratio to the
// latency alone in the same run. The other endpoint acknowledged before, so its host
// is proven.
func BenchmarkFailingNeighbour(b *testing.B) {
	alone := benchLatency(b, func(*fixture) {})
	var refuses atomic.Bool
	bad := receive(b, false, func(w http.ResponseWriter, _ *http.Request) {
		if refuses.Load() {
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
	beside := benchLatency(b, func(o *fixture) {
		other := o.account("failing")
		o.subscribe(other, bad.URL)
		o.appendEvent(other)
		bad.wait(b, 1)
		refuses.Store(true)
		for range 40 {
			o.update(func(tx *sqlstore.Tx) error {
				for range 500 {
					if _, err := o.outbox.Append(tx, other, schema.Live, schema.EventPaymentSucceeded, payment()); err != nil {
						return err
					}
				}
				return nil
			})
		}
		bad.wait(b, 20)
	})
	b.ReportMetric(alone, "alone-p99-ms")
	b.ReportMetric(beside/alone, "p99-ratio")
}

// benchLatency returns the 99th percentile in milliseconds.
func benchLatency(b *testing.B, beside func(*fixture)) float64 {
	b.Helper()
	good := receive(b, false, nil)
	o := newFixture(b, sqlstoretest.SQLite(b), nil)
	account := o.account("good")
	o.subscribe(account, good.URL)
	stop := o.run()
	beside(o)
	for range 50 { // connections, statements, widths
		o.appendEvent(account)
	}
	good.wait(b, 50)
	var mu sync.Mutex
	committed := make(map[string]time.Time, b.N)
	tick := time.NewTicker(time.Second / 200)
	defer tick.Stop()
	b.ResetTimer()
	var firing sync.WaitGroup
	for range b.N {
		<-tick.C
		firing.Go(func() { // open loop: a slow commit delays no other event
			var id string
			err := o.db.Update(context.Background(), func(tx *sqlstore.Tx) (err error) {
				id, err = o.outbox.Append(tx, account, schema.Live, schema.EventPaymentSucceeded, payment())
				return err
			})
			at := time.Now()
			if err != nil {
				b.Error(err)
			}
			mu.Lock()
			committed[id] = at
			mu.Unlock()
		})
	}
	firing.Wait()
	all := good.wait(b, b.N+50)
	b.StopTimer()
	var took []time.Duration
	for _, a := range all {
		if at, ok := committed[a.ID]; ok {
			took = append(took, a.at.Sub(at))
		}
	}
	slices.Sort(took)
	quantile := func(q float64) float64 { return took[int(q*float64(len(took)-1))].Seconds() * 1e3 }
	b.ReportMetric(quantile(0.5), "p50-ms")
	b.ReportMetric(quantile(0.99), "p99-ms")
	b.ReportMetric(quantile(1), "max-ms")
	stop()
	return quantile(0.99)
}

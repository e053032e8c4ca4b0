package verify_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"vayu/dispatch/outbox"
	"vayu/internal/access/accesstest"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/internal/testing/fixture"
	"vayu/pipeline/batch"
	"vayu/pipeline/batch/item"
	"vayu/pipeline/transaction"
	"vayu/pipeline/verify"
	"vayu/pipeline/verify/bank"
	"vayu/schema"
)

// immediateBank answers at once, except deposits to slow accounts.
type immediateBank struct {
	slow time.Duration
	came chan struct{} // receives each slow deposit
}

var found = bank.Answer{Outcome: bank.Found, Account: bank.Account{Name: "ASHA RAO", Bank: "State Bank", Status: schema.AccountActive}}

func (p *immediateBank) Deposit(ctx context.Context, _ bank.Order) (bank.Answer, error) {
	p.came <- struct{}{}
	select {
	case <-time.After(p.slow):
		return found, nil
	case <-ctx.Done():
		return bank.Answer{}, ctx.Err()
	}
}

func (p *immediateBank) Enquire(context.Context, bank.Order) (bank.Answer, error) {
	return found, nil
}

func (p *immediateBank) Resolve(context.Context, bank.Order) (bank.Answer, error) {
	return found, nil
}

var keepAlive = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 256}}

// benchFixture is a server with an immediateBank.
type benchFixture struct {
	b      *testing.B
	db     *sqlstore.DB
	url    string
	tenant accesstest.Tenant
	bank   *immediateBank
}

func newBenchFixture(b *testing.B, db *sqlstore.DB) *benchFixture {
	b.Helper()
	c := &benchFixture{b: b, db: db, tenant: accesstest.AddTenant(b, db, "shop"), bank: &immediateBank{25 * time.Second, make(chan struct{}, 10_000)}}
	box := accesstest.ClaimedCipher(b, db)
	events := outbox.New(outbox.Config{DB: db})
	s, err := verify.New(verify.Config{
		Options: transaction.Options{DB: db, Cipher: box, Events: events}, Settings: verify.DefaultSettings(), PublicURL: func() string { return "https://api.example.com" },
		Connections: []bank.Connection{{Link: transaction.Link{Name: "prompt", Timeout: 30 * time.Second, ResendAfter: 30 * time.Second, Concurrency: 2000}, Bank: c.bank}},
	})
	if err != nil {
		b.Fatal(err)
	}
	access := accesstest.Access(b, db, nil)
	batches, err := batch.New(batch.Config{DB: db, Cipher: box, Change: access.Change, Kinds: []item.Kind{s.BatchKind()}})
	if err != nil {
		b.Fatal(err)
	}
	c.url = accesstest.Serve(b, access, append(s.Routes(), batches.Routes()...))
	fixture.Run(b, s.Run)
	fixture.Run(b, batches.Run)
	return c
}

// ask sends a request and checks the status.
func (c *benchFixture) ask(method, path, body string, want int, header ...string) (text string) {
	req, err := http.NewRequestWithContext(context.Background(), method, c.url+path, strings.NewReader(body))
	if err != nil {
		c.b.Error(err)
		return ""
	}
	req.Header.Set("Authorization", "Bearer "+c.tenant.Keys[schema.Live])
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := keepAlive.Do(req)
	if err != nil {
		c.b.Error(err)
		return ""
	}
	defer resp.Body.Close()
	all, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != want {
		c.b.Errorf("%s %s: %d %s, %v", method, path, resp.StatusCode, all, err)
	}
	return string(all)
}

// upis verifies addresses at 200 a second and reports the latency.
func (c *benchFixture) upis(name string, n int) {
	took := fixture.OpenLoop(n, 200, func(i int) {
		c.ask(http.MethodPost, path, fmt.Sprintf(`{"vpa":"%suser%d@upi","name":"Asha Rao","ref_id":"%s%d"}`, name, i, name, i), http.StatusOK)
	})
	c.b.ReportMetric(float64(took[n/2].Microseconds())/1000, name+"p50-ms")
	c.b.ReportMetric(float64(took[n*99/100].Microseconds())/1000, name+"p99-ms")
}

// BenchmarkUPI measures the time from a request's due time to its complete reply. Addresses
// come at 200 a second over HTTP, in an open loop. It covers keys, limits, events and audit,
// on SQLite, with a bank that answers at once.
func BenchmarkUPI(b *testing.B) {
	c := newBenchFixture(b, sqlstoretest.SQLite(b))
	b.ResetTimer()
	c.upis("", b.N)
}

// BenchmarkHTTP measures verifications of addresses over 64 connections, each of which sends its next request after a
// reply. Its floor is a commit of one row, with as many callers.
func BenchmarkHTTP(b *testing.B) {
	for name, open := range map[string]func(testing.TB) *sqlstore.DB{"sqlite": sqlstoretest.SQLite, "postgres": sqlstoretest.Postgres} {
		b.Run(name, func(b *testing.B) {
			c := newBenchFixture(b, open(b))
			floor := concurrently(b.N, func(i int) {
				sqlstoretest.Exec(b, c.db, "INSERT INTO seen_signature (key_id, signature, expires_at) VALUES ($1, $2, 1)", fmt.Sprint("key_", i), []byte("signature"))
			})
			took := make([]time.Duration, b.N)
			b.ResetTimer()
			rate := concurrently(b.N, func(i int) {
				began := time.Now()
				c.ask(http.MethodPost, path, fmt.Sprintf(`{"vpa":"user%d@upi","name":"Asha Rao","ref_id":"%d"}`, i, i), http.StatusOK)
				took[i] = time.Since(began)
			})
			b.StopTimer()
			slices.Sort(took)
			b.ReportMetric(float64(took[b.N/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(took[b.N*99/100].Microseconds())/1000, "p99-ms")
			b.ReportMetric(rate, "verifications/s")
			b.ReportMetric(floor, "floor/s")
			b.ReportMetric(rate/floor, "x-floor")
		})
	}
}

// concurrently calls work n times in all, from 64 goroutines. It returns calls per second.
func concurrently(n int, work func(i int)) float64 {
	began := time.Now()
	var left atomic.Int64
	left.Store(int64(n))
	var all sync.WaitGroup
	for range 64 {
		all.Go(func() {
			for i := left.Add(-1); i >= 0; i = left.Add(-1) {
				work(int(i))
			}
		})
	}
	all.Wait()
	return float64(n) / time.Since(began).Seconds()
}

// BenchmarkWaiting measures a thousand concurrent penny drops that wait for 25 s, each on its
// own connection. It reports the additional memory, each and in all. It also reports the
// latency of 200 addresses a second, alone and meanwhile. The client ends of the connections
// are in the same process; they hold a socket each and no buffer.
func BenchmarkWaiting(b *testing.B) {
	const drops = 1000
	for range b.N {
		c := newBenchFixture(b, sqlstoretest.SQLite(b))
		c.upis("alone-", 1000)
		before := inUse()
		conns := make([]net.Conn, drops)
		for i := range conns {
			conns[i] = c.send(fmt.Sprintf(`{"account_number":"%012d","ifsc":"SBIN0000691","name":"Asha Rao","ref_id":"drop %d"}`, i, i))
		}
		for range conns {
			<-c.bank.came
		}
		more := inUse() - before
		b.ReportMetric(more/drops, "B/drop")
		b.ReportMetric(more/1e6, "MB")
		c.upis("meanwhile-", 1000)
		for _, conn := range conns {
			resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil || resp.StatusCode != http.StatusOK {
				b.Fatalf("got %+v, %v", resp, err)
			}
			_ = conn.Close()
		}
	}
}

// send sends a request on its own connection.
func (c *benchFixture) send(body string) net.Conn {
	c.b.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(c.url, "http://"))
	if err == nil {
		_, err = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
			path, c.tenant.Keys[schema.Live], len(body), body)
	}
	if err != nil {
		c.b.Fatal(err)
	}
	return conn
}

// inUse returns the used memory of heap and stacks in bytes.
func inUse() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapInuse + m.StackInuse)
}

// BenchmarkBulk measures 10,000 records from POST to completion with a bank that answers at
// once, and the rate of streaming the results.
func BenchmarkBulk(b *testing.B) {
	b.Run("sqlite", func(b *testing.B) { benchBulk(b, sqlstoretest.SQLite(b)) })
	b.Run("postgres", func(b *testing.B) { benchBulk(b, sqlstoretest.Postgres(b)) })
}

func benchBulk(b *testing.B, db *sqlstore.DB) {
	b.Helper()
	const total = 10_000
	c := newBenchFixture(b, db)
	records := make([]string, total)
	var worked, streamed time.Duration
	for n := range b.N {
		for i := range records {
			records[i] = fmt.Sprintf(`{"vpa":"user%d.%d@upi","name":"Asha Rao"}`, n, i)
		}
		began := time.Now()
		taken := c.ask(http.MethodPost, batchPath, `{"records":[`+strings.Join(records, ",")+`]}`, http.StatusAccepted)
		_, id, _ := strings.Cut(taken, `"batch_id":"`)
		id, _, _ = strings.Cut(id, `"`)
		look := time.NewTicker(50 * time.Millisecond)
		for range look.C {
			if strings.Contains(c.ask(http.MethodGet, batchPath+"/"+id, "", http.StatusOK), `"completed"`) {
				break
			}
		}
		look.Stop()
		worked += time.Since(began)
		began = time.Now()
		lines := strings.Count(c.ask(http.MethodGet, batchPath+"/"+id+"/results", "", http.StatusOK, "Accept", "application/x-ndjson"), "\n")
		streamed += time.Since(began)
		if lines != total {
			b.Fatalf("%d results are streamed", lines)
		}
	}
	b.ReportMetric(worked.Seconds()/float64(b.N), "s/10k")
	b.ReportMetric(float64(total*b.N)/streamed.Seconds(), "results/s")
}

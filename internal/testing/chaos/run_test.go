package chaos

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"testing"
	"time"
)

// The load during a run.
const (
	airRate    = 200 // requests per second
	eventRate  = 200 // events per second
	orderRate  = 2   // recharges per second
	airClients = 8
	// limitedRate is the rate of the client with a quota, per second. It exhausts the quota after 100 s. By
	// then the API instances have been killed.
	limitedRate = 10
	// clients is the number of accounts, with a webhook each. All events of an account are on one of 12 Kafka
	// partitions. With so many accounts, the load of two halves of the partitions differs by less than a
	// tenth.
	clients = 200
	// undisturbed is how long the load runs before the first fault.
	undisturbed = 45 * time.Second
	// apart is the least time between the end of one fault and the next.
	apart = 4 * time.Second
	// maxArrive limits the time for all events to arrive after the last fault. The second attempt
	// of a webhook comes after 10 s, the third 30 s later.
	maxArrive = 3 * time.Minute
)

// Run is a run of faults on a cluster.
type Run struct {
	Cluster *Cluster
	Inbox   *Inbox
	Faults  []Fault

	store     *StateStore
	air       *Air
	limited   *Air // the client with a quota
	feed      *Readings
	events    *Events
	recharges *Recharges
	rows      []row
	began     time.Time
	ended     time.Time
	shares    map[string]float64 // deliveries of each dispatcher without a fault
}

// row is the result of one fault.
type row struct {
	Fault
	from, faultEnded, to time.Time
	recovered            time.Duration
	aired                time.Duration // until all clients got air from after the end of the fault
	stale                bool          // the time limit was exceeded
	note                 string
}

// inject starts a cluster under load, injects the faults into it as subtests, and checks that all
// invariants hold.
func inject(ctx context.Context, t *testing.T, config Config, faults []Fault) {
	t.Helper()
	inbox := NewInbox()
	t.Cleanup(inbox.Close)
	config.CA = inbox.CA
	_, _ = fmt.Fprintf(t.Output(), "starting a cluster in %s, on %d processors …\n", config.Dir, runtime.NumCPU())
	c := newCluster(t, config)
	err := c.start(ctx)
	if err == nil {
		err = c.Print(t.Output())
	}
	if err != nil {
		t.Fatal(err)
	}
	store, err := OpenStateStore(c.DSN, c.Key, c.Dir)
	if err != nil {
		t.Fatal(err)
	}
	open, end := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- store.Run(open) }()
	t.Cleanup(func() {
		end()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	r := &Run{Cluster: c, Inbox: inbox, Faults: faults, store: store}
	if err := r.prepare(ctx); err != nil {
		t.Fatal(err)
	}
	if err := r.underLoad(ctx, t); err != nil {
		r.ended = time.Now()
		t.Fatal(errors.Join(err, r.table(t.Output(), nil))) // partial results
	}
	if err := r.judge(ctx, t); err != nil {
		t.Fatal(err)
	}
}

// prepare waits until the cluster is idle, and creates accounts, webhooks and a wallet.
func (r *Run) prepare(ctx context.Context) error {
	c := r.Cluster
	if err := c.AwaitBackfill(ctx); err != nil {
		return err
	}
	all, err := r.store.Accounts(ctx, clients, Unlimited)
	if err != nil {
		return err
	}
	limited, err := r.store.Accounts(ctx, 1, Limited)
	if err != nil {
		return err
	}
	if err := wait(ctx, 2*time.Second); err != nil { // all instances accept a new key within one second
		return err
	}
	if err := r.Inbox.Subscribe(ctx, c.URL, all); err != nil {
		return err
	}
	sandbox, err := c.NewKey(ctx, "test")
	if err != nil {
		return err
	}
	if err := wait(ctx, 2*time.Second); err != nil {
		return err
	}
	r.air = &Air{URL: c.URL, Accounts: all[:airClients], Cities: Cities, Rate: airRate}
	r.limited = &Air{URL: c.URL, Accounts: limited, Cities: Cities, Rate: limitedRate}
	r.feed = &Readings{Folder: c.Folder(), Air: FeedDocument, Query: c.QueryClickHouse}
	r.events = &Events{Store: r.store, Accounts: all, Rate: eventRate}
	r.recharges = &Recharges{URL: c.URL, Key: sandbox, Rate: orderRate}
	return r.recharges.Prepare(ctx)
}

// underLoad injects the faults one after the other while the clients run.
func (r *Run) underLoad(ctx context.Context, t *testing.T) error {
	t.Helper()
	loads, end := context.WithCancel(ctx)
	defer end()
	var all sync.WaitGroup
	for _, run := range []func(context.Context){r.air.Run, r.limited.Run, r.feed.Run, r.events.Run, r.recharges.Run} {
		all.Go(func() { run(loads) })
	}
	defer all.Wait()
	defer end() // before the wait
	r.began = time.Now()
	before, err := r.attempts(ctx)
	if err != nil {
		return err
	}
	if err := wait(ctx, undisturbed); err != nil {
		return err
	}
	after, err := r.attempts(ctx)
	if err != nil {
		return err
	}
	r.shares = shares(before, after)
	r.rows = append(r.rows, row{Fault: Fault{Name: "undisturbed"}, from: r.began, faultEnded: time.Now(), to: time.Now()})
	r.report(t.Output(), r.rows[0])
	for _, f := range r.Faults {
		if !t.Run(f.Name, func(t *testing.T) { r.test(ctx, t, f) }) {
			return fmt.Errorf("the run ends with %s", f.Name)
		}
	}
	err = r.refused(ctx)
	r.ended = time.Now()
	return err
}

// maxRefused limits the wait until the quota is exhausted.
const maxRefused = 3 * time.Minute

// refused waits until the quota is exhausted. In a long run it already is. Then refused waits a little
// longer, to count requests that are still answered.
func (r *Run) refused(ctx context.Context) error {
	for until := time.Now().Add(maxRefused); time.Now().Before(until); {
		if stats := r.limited.Between(r.began, time.Now()); stats.Refused > 0 {
			break
		}
		if err := wait(ctx, time.Second); err != nil {
			return err
		}
	}
	return wait(ctx, apart)
}

// test injects one fault, waits until all processes are healthy, and reports the result.
func (r *Run) test(ctx context.Context, t *testing.T, f Fault) {
	t.Helper()
	done := row{Fault: f, from: time.Now()}
	var err, late error
	done.note, err = f.Do(ctx, r.Cluster)
	done.faultEnded = time.Now()
	if late = r.Cluster.AwaitHealthy(ctx); late == nil {
		done.recovered = time.Since(done.faultEnded)
		late = errors.Join(r.awaitAir(ctx, &done), wait(ctx, apart-time.Since(done.faultEnded)+done.recovered))
	}
	done.to = time.Now()
	r.rows = append(r.rows, done)
	r.report(t.Output(), done)
	if err := errors.Join(err, late); err != nil {
		t.Fatal(err)
	}
}

// maxAir limits the time from the end of a fault until all clients get newer air. A folder of files
// is polled each 30 s. Another instance may take 15 s to lead, or a connection to be restored.
const maxAir = 45 * time.Second

// awaitAir waits until all clients get air from after the end of a fault, or for much longer than
// that may take.
func (r *Run) awaitAir(ctx context.Context, done *row) error {
	for {
		var ok bool
		if done.aired, ok = r.air.Newer(done.faultEnded); ok {
			return nil
		}
		if time.Since(done.faultEnded) > 2*maxAir {
			done.stale = true
			return nil
		}
		if err := wait(ctx, 200*time.Millisecond); err != nil {
			return err
		}
	}
}

// attempts returns the number of deliveries of each dispatcher.
func (r *Run) attempts(ctx context.Context) (map[string]float64, error) {
	made := map[string]float64{}
	for _, i := range r.Cluster.Instances {
		if !i.Has("dispatch") {
			continue
		}
		n, err := i.Metric(ctx, "vayu_webhook_attempts_total", "acknowledged")
		if err != nil {
			return nil, err
		}
		made[i.Name] = n
	}
	return made, nil
}

// shares returns the percentage of deliveries of each dispatcher; 0 for all if there was none.
func shares(before, after map[string]float64) map[string]float64 {
	var sum float64
	for name, n := range after {
		sum += n - before[name]
	}
	all := map[string]float64{}
	for name, n := range after {
		all[name] = 0
		if sum > 0 {
			all[name] = 100 * (n - before[name]) / sum
		}
	}
	return all
}

// report prints the result of one fault immediately, because a run takes minutes.
func (r *Run) report(out io.Writer, d row) {
	stats := r.air.Between(d.from, d.to)
	_, _ = fmt.Fprintf(out, "%s  %-20s %6d requests, %d failed; away %.1f s, well %.1f s later, air %.1f s  %s\n",
		d.from.Format(time.TimeOnly), d.Name, stats.Requests, stats.Failed, d.faultEnded.Sub(d.from).Seconds(), d.recovered.Seconds(), d.aired.Seconds(), d.note)
	for text, n := range stats.Faults {
		_, _ = fmt.Fprintf(out, "          %d× %s\n", n, text)
	}
}

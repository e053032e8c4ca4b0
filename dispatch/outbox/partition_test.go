package outbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/internal/testing/fixture"
	"vayu/schema"
)

// accountsOf creates n accounts in each partition, and returns their ids by partition.
func (d *outboxFixture) accountsOf(n int) (all [partitions][]string) {
	d.t.Helper()
	for i := 0; slices.ContainsFunc(all[:], func(ids []string) bool { return len(ids) < n }); i++ {
		id := fmt.Sprint("acc_", i)
		if p := partitionOf(id); len(all[p]) < n {
			all[p] = append(all[p], id)
			d.exec("INSERT INTO account (id, name, plan, allow_list, created_at, revision) VALUES ($1, $1, 'free', '', 0, 1)", id)
		}
	}
	return all
}

// appendEvents commits n events of an account in one transaction.
func (d *outboxFixture) appendEvents(account string, n int) {
	d.t.Helper()
	if err := d.DB.Update(context.Background(), func(tx *sqlstore.Tx) (err error) {
		for i := 0; i < n && err == nil; i++ {
			_, err = d.Append(tx, account, schema.Live, schema.EventPaymentSucceeded, struct{}{})
		}
		return err
	}); err != nil {
		d.t.Fatal(err)
	}
}

// Two instances divide the partitions, and publish all events of both, in order within each account.
func TestInstancesDividePartitions(t *testing.T) {
	t.Parallel()
	c := sqlstore.Config{DSN: sqlstoretest.PostgresDSN(t), Settings: sqlstore.Settings{Connections: 8}}
	var instances [2]*outboxFixture
	var published [2]*memoryPublisher
	for i := range instances {
		instances[i], published[i] = newFixture(t, sqlstoretest.Open(t, c)), newMemoryPublisher()
		instances[i].run(published[i])
	}
	fixture.Eventually(t, "the instances own all partitions", func() bool {
		one, two := len(instances[0].owns()), len(instances[1].owns())
		return one > 0 && two > 0 && one+two == partitions
	})
	of := instances[0].accountsOf(2)
	var ids []string
	for n := range 10 {
		for p := range of {
			for _, account := range of[p] {
				ids = append(ids, instances[n%2].appendEvent(account))
			}
		}
	}
	fixture.Eventually(t, "all events are published", func() bool {
		all := append(published[0].ids(""), published[1].ids("")...)
		return !slices.ContainsFunc(ids, func(id string) bool { return !slices.Contains(all, id) })
	})
	// If a lease has moved meanwhile, both instances may have published an event.
	for p := range of {
		for _, account := range of[p] {
			for i, s := range published {
				if got := s.ids(account); !slices.IsSorted(got) {
					t.Errorf("instance %d published the events of %s in the order %v", i, account, got)
				}
			}
		}
	}
}

// unreachablePublisher acknowledges no event. Its checks fail until `repaired` is set.
type unreachablePublisher struct {
	checks   atomic.Int64
	repaired atomic.Bool
}

var errUnreachable = errors.New("no broker answers")

// Publish implements Publisher.
func (*unreachablePublisher) Publish(context.Context, []Event) ([]Event, error) {
	return nil, errUnreachable
}

// Check implements Publisher.
func (u *unreachablePublisher) Check(context.Context) error {
	u.checks.Add(1)
	if u.repaired.Load() {
		return nil
	}
	return errUnreachable
}

// An instance that cannot publish gives up its partitions, and another one publishes their events. It claims partitions
// again when its publisher replies.
func TestAFailingInstanceGivesUpItsPartitions(t *testing.T) {
	t.Parallel()
	c := sqlstore.Config{DSN: sqlstoretest.PostgresDSN(t), Settings: sqlstore.Settings{Connections: 8}}
	failing, working := newFixture(t, sqlstoretest.Open(t, c)), newFixture(t, sqlstoretest.Open(t, c))
	unreachable, published := &unreachablePublisher{}, newMemoryPublisher()
	failing.run(unreachable)
	working.run(published)
	fixture.Eventually(t, "the instances own all partitions", func() bool {
		one, two := len(failing.owns()), len(working.owns())
		return one > 0 && two > 0 && one+two == partitions
	})
	of := failing.accountsOf(1)
	var ids []string
	for p := range of {
		ids = append(ids, failing.appendEvent(of[p][0]))
	}
	fixture.Eventually(t, "the other instance publishes all events", func() bool {
		all := published.ids("")
		return !slices.ContainsFunc(ids, func(id string) bool { return !slices.Contains(all, id) })
	})
	fixture.Eventually(t, "the instance has checked its publisher twice", func() bool { return unreachable.checks.Load() >= 2 })
	if got := failing.owns(); len(got) > 0 {
		t.Errorf("the instance owns the partitions %v, and its publisher does not reply", got)
	}
	unreachable.repaired.Store(true)
	fixture.Eventually(t, "the instance owns partitions again", func() bool { return len(failing.owns()) > 0 })
}

// A relay publishes only the events of its partitions. Events of older versions have no partition, and are published
// in order with the others of their accounts.
func TestRelayPublishesOwnPartitions(t *testing.T) {
	t.Parallel()
	eachFixture(t, func(t *testing.T, d *outboxFixture) {
		of := d.accountsOf(1)
		var want [partitions][]string
		for range maxBatch/partitions + 10 { // more than a batch without a partition
			for p := range of {
				want[p] = append(want[p], d.appendEvent(of[p][0]))
			}
		}
		d.exec("UPDATE outbox SET partition = NULL")
		for p := range of {
			want[p] = append(want[p], d.appendEvent(of[p][0]))
		}
		for _, mine := range [][]int{{1, 3, 6}, {0, 2, 4, 5, 7}} {
			s := newMemoryPublisher()
			r := relay{Outbox: d.Outbox, to: s}
			for _, p := range mine {
				r.owned[p] = true
			}
			if _, err := r.pass(t.Context()); err != nil {
				t.Fatal(err)
			}
			for p := range of {
				var published []string
				if slices.Contains(mine, p) {
					published = want[p]
				}
				if diff := cmp.Diff(published, s.ids(of[p][0])); diff != "" {
					t.Errorf("relay of %v, events of partition %d: %s", mine, p, diff)
				}
			}
		}
		if n := d.count("outbox"); n != 0 {
			t.Errorf("%d events are left", n)
		}
	})
}

// gainingPublisher adds a partition to its relay after the first batch.
type gainingPublisher struct {
	*memoryPublisher
	relay *relay
	gain  int
	calls int
	all   sync.WaitGroup
}

// Publish implements Publisher.
func (g *gainingPublisher) Publish(ctx context.Context, batch []Event) ([]Event, error) {
	if g.calls++; g.calls == 1 {
		g.all.Go(func() { g.relay.own(g.gain, true) })
	}
	return g.memoryPublisher.Publish(ctx, batch)
}

// A relay that gets a partition while an account is blocked publishes the partition from its oldest event.
func TestGainedPartitionBeginsWithOldestEvent(t *testing.T) {
	t.Parallel()
	eachFixture(t, func(t *testing.T, d *outboxFixture) {
		of := d.accountsOf(1)
		var want []string
		for range 2 {
			want = append(want, d.appendEvent(of[1][0]))
			d.appendEvents(of[0][0], 4*maxBatch)
		}
		s := &gainingPublisher{memoryPublisher: newMemoryPublisher(), relay: &relay{Outbox: d.Outbox}, gain: 1}
		s.refuse, s.err = func(e Event) bool { return e.Account == of[0][0] }, ErrPartial
		s.relay.to, s.relay.owned[0] = s, true
		for range 2 { // the second pass publishes what the first may have missed
			if _, err := s.relay.pass(t.Context()); !errors.Is(err, ErrPartial) {
				t.Fatal(err)
			}
			s.all.Wait()
		}
		if diff := cmp.Diff(want, s.ids(of[1][0])); diff != "" {
			t.Errorf("events of the gained partition: %s", diff)
		}
	})
}

// A partition without an owner, however many events wait in it, is not read by the relays of others.
func TestWaitingPartitionIsNotRead(t *testing.T) {
	t.Parallel()
	db := sqlstoretest.Open(t, sqlstore.Config{DSN: sqlstoretest.PostgresDSN(t)})
	d := newFixture(t, db)
	of := d.accountsOf(1)
	for range 6 { // each within the time limit of a change, also on a busy machine
		d.appendEvents(of[0][0], 500)
	}
	d.appendEvent(of[1][0])
	d.exec("ANALYZE outbox")
	o := owned{1: true, 2: true}
	plan, err := sqlstore.All(db.View(t.Context()), func(row sqlstore.Scanner) (line string, err error) {
		err = row.Scan(&line)
		return line, err
	}, "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) "+strings.NewReplacer("$1", "''", "$2", "500").Replace(o.selectNext()))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(plan, "\n")
	if strings.Contains(text, "Seq Scan") || strings.Contains(text, "Rows Removed") {
		t.Errorf("the plan reads rows of other partitions:\n%s", text)
	}
}

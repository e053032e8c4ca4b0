package outbox

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/internal/testing/fixture"
	"vayu/schema"
)

// childVariable holds the directory in which the test binary, started as a
// child, commits and relays until it is killed.
const childVariable = "VAYU_TEST_OUTBOX_CHILD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childVariable); dir != "" {
		fmt.Fprintln(os.Stderr, relayUntilKilled(dir))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// filePublisher is a publisher that writes each event as a line, "account id".
type filePublisher struct {
	reachable

	file *os.File
}

func openFilePublisher(dir string) (filePublisher, error) {
	file, err := os.OpenFile(filepath.Join(dir, "book"), os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
	return filePublisher{file: file}, err
}

// Publish implements Publisher.
func (b filePublisher) Publish(_ context.Context, batch []Event) ([]Event, error) {
	var lines strings.Builder
	for _, e := range batch {
		fmt.Fprintf(&lines, "%s %s\n", e.Account, e.ID)
	}
	_, err := b.file.WriteString(lines.String())
	if err != nil {
		return nil, err
	}
	return batch, nil
}

var errUndone = errors.New("undone on purpose")

// relayUntilKilled prints the id of each event after the store has acknowledged its
// change. Every eighth change is rolled back.
func relayUntilKilled(dir string) error {
	db, err := sqlstore.Open(sqlstore.Config{Data: dir}, nil, nil)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- db.Run(ctx); cancel() }()
	if err := db.Ready(ctx); err != nil {
		return fmt.Errorf("%w: %w", err, <-ended)
	}
	o := New(Config{DB: db})
	to, err := openFilePublisher(dir)
	if err != nil {
		return err
	}
	go func() { ended <- o.Run(ctx, to) }()
	for worker := range 16 {
		go func() {
			for n := 0; ; n++ {
				var id string
				err := db.Update(ctx, func(tx *sqlstore.Tx) (err error) {
					if id, err = o.Append(tx, accounts[worker%3], schema.Live, schema.EventPaymentSucceeded, map[string]int{"n": n}); err != nil {
						return err
					}
					// The change of the event.
					if _, err := tx.Exec("INSERT INTO seen_signature (key_id, signature, expires_at) VALUES ($1, $2, 0)", id, []byte("change")); err != nil {
						return err
					}
					if n%8 == 7 {
						return errUndone
					}
					return nil
				})
				switch {
				case errors.Is(err, errUndone):
					continue
				case err != nil:
					ended <- err
					return
				}
				if _, err := os.Stdout.WriteString(id + "\n"); err != nil {
					return
				}
			}
		}()
	}
	return <-ended
}

// Processes run one after another on one directory. Each is killed after some of its
// commits.
func TestKillLosesNoEvent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db, stop := sqlstoretest.Start(t, sqlstore.Config{Data: dir})
	newFixture(t, db) // for its accounts
	stop()
	var committed []string
	for round := range 20 {
		committed = append(committed, fixture.KillAfter(t, childVariable+"="+dir, 1+rand.IntN(400))...)
		if t.Failed() {
			t.Fatalf("round %d", round)
		}
	}
	d := newFixture(t, sqlstoretest.Open(t, sqlstore.Config{Data: dir}))
	waiting := d.count("outbox")
	to, err := openFilePublisher(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer to.file.Close()
	r := d.relay(to)
	if _, err := r.pass(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := d.count("outbox"); n != 0 {
		t.Fatalf("%d rows of the backlog are not published", n)
	}
	published, twice := readPublished(t, dir)
	for _, id := range committed {
		if !published[id] {
			t.Errorf("%s was committed and never published", id)
		}
	}
	if n := d.count("event"); n != len(published) {
		t.Errorf("%d events were published, and %d are stored", len(published), n)
	}
	if n := d.count("event WHERE id NOT IN (SELECT key_id FROM seen_signature)") + d.count("seen_signature WHERE key_id NOT IN (SELECT id FROM event)"); n != 0 {
		t.Errorf("%d events have no change, or changes no event", n)
	}
	t.Logf("%d events were acknowledged, %d published, %d of them twice; %d were pending at the end", len(committed), len(published), twice, waiting)
}

// readPublished returns the published ids, and the number of repeated lines. It checks
// that the ids of each account ascend, without repetitions.
func readPublished(t *testing.T, dir string) (published map[string]bool, twice int) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "book"))
	if err != nil {
		t.Fatal(err)
	}
	published = map[string]bool{}
	last := map[string]string{}
	for line := range strings.Lines(string(text)) {
		account, id, _ := strings.Cut(strings.TrimSpace(line), " ")
		if published[id] {
			twice++
			continue
		}
		published[id] = true
		if !slices.Contains(accounts, account) || id <= last[account] {
			t.Errorf("%s got %s after %s", account, id, last[account])
		}
		last[account] = id
	}
	return published, twice
}

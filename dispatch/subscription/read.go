package subscription

import (
	"context"
	"strings"
	"time"

	"vayu/internal/encryption"
	"vayu/internal/sqlstore"
	"vayu/schema"
)

const (
	// pageRows is the maximum number of rows that one query returns when the cache reads the whole table.
	pageRows = 2000
	// maxDelta is the maximum number of changed rows that a refresh reads by their revision. After more changes, reading
	// the whole table is as fast and needs no more memory.
	maxDelta = 10_000
	// maxLogged is how many unreadable secrets are logged after one refresh.
	maxLogged = 5
)

const (
	selectRevision = "SELECT n FROM webhook_revision WHERE id = 1"
	selectRow      = `SELECT id, account_id, mode, url, events, active, api_version, clear_numbers, secret, previous_secret,
		created_at, COALESCE(previous_until, 0), deleted_at IS NOT NULL FROM webhook`
)

// read brings the cache up to date: it reads the changed rows, or the whole table, into a new snapshot.
func (cache *Cache) read(ctx context.Context, now time.Time) error {
	r := &reading{Cache: cache, ctx: ctx, now: now, lists: map[string][]schema.EventType{}}
	revision, err := r.revision()
	if err != nil {
		return err
	}
	before := cache.Snapshot()
	switch {
	case revision == before.revision:
		return nil
	case revision < before.revision, before.revision == unread, revision-before.revision > maxDelta:
		// A lower revision means that the store was replaced.
		r.generation = newGeneration(nil)
		err = r.all()
	default:
		r.generation = newGeneration(before)
		err = r.since(before.revision)
	}
	if err != nil {
		return err
	}
	cache.snapshot.Store(r.generation.finish(revision))
	r.logUnreadable()
	return nil
}

type reading struct {
	*Cache
	ctx        context.Context //nolint:containedctx // a reading lasts for one refresh
	now        time.Time
	generation *generation
	lists      map[string][]schema.EventType // parsed lists of event types, by their text; most subscriptions share a few lists
	unreadable map[string]error              // decryption errors of secrets, by subscription id
}

// query runs `do` with a timeout. Each query has its own timeout, because reading the whole table takes many queries.
func (r *reading) query(do func(view sqlstore.View) error) error {
	limit, done := context.WithTimeout(r.ctx, r.follower.Timeout)
	defer done()
	return do(r.DB.View(limit))
}

func (r *reading) revision() (n int64, err error) {
	err = r.query(func(view sqlstore.View) error { return view.QueryRow(selectRevision).Scan(&n) })
	return n, err
}

// since reads the subscriptions that were changed or deleted after a revision.
func (r *reading) since(revision int64) error {
	return r.query(func(view sqlstore.View) error {
		return sqlstore.Each(view, func(row sqlstore.Scanner) error {
			_, err := r.take(row)
			return err
		}, selectRow+" WHERE revision > $1 ORDER BY revision", revision) // the column revision is indexed
	})
}

// all reads all subscriptions, page by page. If a row changes between two pages, the next refresh reads the change.
func (r *reading) all() error {
	after := ""
	for {
		n := 0
		err := r.query(func(view sqlstore.View) error {
			return sqlstore.Each(view, func(row sqlstore.Scanner) (err error) {
				n++
				after, err = r.take(row)
				return err
			}, selectRow+" WHERE id > $1 AND deleted_at IS NULL ORDER BY id LIMIT $2", after, pageRows)
		})
		if err != nil || n < pageRows {
			return err
		}
	}
}

// take adds the subscription of a row to the next snapshot of the cache, or removes it if it is deleted. It returns the
// subscription's id.
func (r *reading) take(row sqlstore.Scanner) (id string, err error) {
	s := &Subscription{}
	var mode, events string
	var active, clearNumbers int64
	var deleted bool
	var secret, previous []byte
	err = row.Scan(&s.ID, &s.Account, &mode, &s.URL, &events, &active, &s.Version, &clearNumbers, &secret, &previous,
		&s.createdAt, &s.previousUntil, &deleted)
	if err != nil {
		return "", err
	}
	if deleted {
		r.generation.remove(s.ID)
		return s.ID, nil
	}
	s.World, s.Active = schema.WorldOf(mode), active != 0
	s.ClearNumbers = clearNumbers != 0
	s.Host, s.Events = hostAndPort(s.URL), r.list(events)
	if err := s.decrypt(r.Cipher, secret, previous, r.now); err != nil {
		if r.unreadable == nil {
			r.unreadable = map[string]error{}
		}
		s.unreadable, r.unreadable[s.ID] = true, err
	}
	r.generation.put(s)
	return s.ID, nil
}

// list parses the event types of a row. Rows with the same text share one slice.
func (r *reading) list(text string) []schema.EventType {
	list, known := r.lists[text]
	if !known {
		list = eventList(text)
		r.lists[text] = list
	}
	return list
}

// decrypt decrypts the current secret, and during the grace period of a rotation the previous one, too. If the current
// secret cannot be decrypted, it sets no secret. If only the previous one cannot be decrypted, it sets the current one
// and returns the error.
func (s *Subscription) decrypt(c *encryption.Cipher, secret, previous []byte, now time.Time) error {
	plain, err := secretColumn.Decrypt(c, secret, s.ID)
	if err != nil {
		return err
	}
	s.secrets = []string{string(plain)}
	if len(previous) == 0 || now.UnixMicro() >= s.previousUntil {
		return nil
	}
	if plain, err = previousColumn.Decrypt(c, previous, s.ID); err == nil {
		s.secrets = append(s.secrets, string(plain))
	}
	return err
}

// logUnreadable logs the ids of up to maxLogged subscriptions whose secrets cannot be decrypted. If there are more, it
// also logs the number of all such subscriptions.
func (r *reading) logUnreadable() {
	logged := 0
	for id, err := range r.unreadable {
		if logged++; logged > maxLogged {
			r.Log.Error("webhooks: more secrets cannot be decrypted", "subscriptions", len(r.unreadable))
			return
		}
		r.Log.Error("webhooks: a secret cannot be decrypted; deliveries wait", "webhook", id, "error", err)
	}
}

func eventList(text string) []schema.EventType {
	list := []schema.EventType{}
	for name := range strings.FieldsSeq(text) {
		list = append(list, schema.EventType(name))
	}
	return list
}

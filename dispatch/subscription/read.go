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
	// pageRows are read at once when everything is: some milliseconds.
	pageRows = 2000
	// partMost changes are looked for by their revision; when there are more,
	// reading everything is as quick, and needs no more memory.
	partMost = 10_000
	// tellMost unreadable secrets have a log line each, after one look.
	tellMost = 5
)

const (
	selectRevision = "SELECT n FROM webhook_revision WHERE id = 1"
	selectRow      = `SELECT id, account_id, mode, url, events, active, api_version, clear_numbers, secret, previous_secret,
		created_at, COALESCE(previous_until, 0), deleted_at IS NOT NULL, revision FROM webhook`
)

// reading is one look at the store that found something new.
type reading struct {
	*Book

	ctx        context.Context //nolint:containedctx // a reading is made for one look
	now        time.Time
	edition    *edition
	lists      map[string][]schema.EventType // by their text: most subscriptions share a few
	unreadable map[string]error              // of secrets, by the id of their subscription
}

// ask gives each question its own time: all together may take long.
func (r *reading) ask(do func(view sqlstore.View) error) error {
	limit, done := context.WithTimeout(r.ctx, r.most)
	defer done()
	return do(r.DB.View(limit))
}

func (r *reading) revision() (n int64, err error) {
	err = r.ask(func(view sqlstore.View) error { return view.QueryRow(selectRevision).Scan(&n) })
	return n, err
}

// since reads what was changed after a revision.
func (r *reading) since(revision int64) error {
	return r.ask(func(view sqlstore.View) error {
		return sqlstore.Each(view, r.take, selectRow+" WHERE revision > $1 ORDER BY revision", revision) // which is indexed
	})
}

// all reads everything but what was deleted long ago, a page at a time. What is
// changed between two pages has a revision that the next look asks for.
func (r *reading) all() error {
	after := ""
	for {
		n := 0
		err := r.ask(func(view sqlstore.View) error {
			return sqlstore.Each(view, func(row sqlstore.Scanner) error {
				s, err := r.scan(row)
				if err != nil {
					return err
				}
				r.edition.put(s, r.now)
				after = s.ID
				n++
				return nil
			}, selectRow+" WHERE id > $1 AND (deleted_at IS NULL OR deleted_at > $2) ORDER BY id LIMIT $3",
				after, r.now.Add(-goneKept).UnixMicro(), pageRows)
		})
		if err != nil || n < pageRows {
			return err
		}
	}
}

func (r *reading) take(row sqlstore.Scanner) error {
	s, err := r.scan(row)
	if err == nil {
		r.edition.put(s, r.now)
	}
	return err
}

func (r *reading) scan(row sqlstore.Scanner) (*Subscription, error) {
	s := &Subscription{}
	var mode, events string
	var active, clearNumbers int64
	var secret, previous []byte
	err := row.Scan(&s.ID, &s.Account, &mode, &s.URL, &events, &active, &s.Version, &clearNumbers, &secret, &previous,
		&s.createdAt, &s.previousUntil, &s.Deleted, &s.revision)
	if err != nil {
		return nil, err
	}
	s.World, s.Active = schema.WorldOf(mode), active != 0
	s.ClearNumbers = clearNumbers != 0
	s.Host, s.Events = hostAndPort(s.URL), r.list(events)
	if s.Deleted {
		return s, nil
	}
	if err := s.open(r.Box, secret, previous, r.now); err != nil {
		if r.unreadable == nil {
			r.unreadable = map[string]error{}
		}
		s.unreadable, r.unreadable[s.ID] = true, err
	}
	return s, nil
}

// list is the types of a row, the same slice for the same text.
func (r *reading) list(text string) []schema.EventType {
	list, known := r.lists[text]
	if !known {
		list = eventList(text)
		r.lists[text] = list
	}
	return list
}

// open decrypts the secrets, unless the one before is over. Without the new one
// the one before is of no use: whoever rotated wants both signatures.
func (s *Subscription) open(box *encryption.Box, secret, previous []byte, now time.Time) error {
	plain, err := sealedSecret.Open(box, secret, s.ID)
	if err != nil {
		return err
	}
	s.secrets = []string{string(plain)}
	if len(previous) == 0 || now.UnixMicro() >= s.previousUntil {
		return nil
	}
	if plain, err = sealedPrevious.Open(box, previous, s.ID); err == nil {
		s.secrets = append(s.secrets, string(plain))
	}
	return err
}

// tell logs which secrets cannot be opened; the metric tells how many.
func (r *reading) tell() {
	told := 0
	for id, err := range r.unreadable {
		if told++; told > tellMost {
			r.Log.Error("webhooks: more secrets cannot be opened", "subscriptions", len(r.unreadable))
			return
		}
		r.Log.Error("webhooks: a secret cannot be opened; nothing is signed with it", "webhook", id, "error", err)
	}
}

// eventList reads a column of types.
func eventList(text string) []schema.EventType {
	list := []schema.EventType{}
	for word := range strings.FieldsSeq(text) {
		list = append(list, schema.EventType(word))
	}
	return list
}

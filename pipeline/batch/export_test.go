package batch

import (
	"context"
	"math"
	"slices"
	"time"

	"vayu/internal/httpapi"
	"vayu/internal/sqlstore"
	"vayu/schema"
)

// Hurry makes a service's own pauses short, for tests in which they pass.
func (s *Service) Hurry() {
	for _, w := range s.workers {
		w.pace.look, w.pace.pause, w.pace.pauseMost = 20*time.Millisecond, 5*time.Millisecond, 40*time.Millisecond
	}
}

// Graceless ends records at once when the service stops.
func (s *Service) Graceless() {
	for _, w := range s.workers {
		w.pace.grace = 0
	}
}

// Sweep has results deleted as soon as they have expired.
func (s *Service) Sweep() {
	for _, w := range s.workers {
		w.pace.empty, w.pace.linger = 5*time.Millisecond, 0
	}
}

// Question is a statement that looks for batches, its values, and the indices that it may
// use.
type Question struct {
	Text  string
	Args  []any
	Index []string
}

// Questions are the statements that look for batches of an account, by what they look
// for.
func (k *Kind) Questions(account string, now time.Time) map[string]Question {
	list := func(change func(*filter), index ...string) Question {
		f := filter{owner: schema.Owner{Account: account}, from: math.MinInt64, to: math.MaxInt64, limit: 100}
		change(&f)
		text, args := k.page(&f, now)
		return Question{text, args, index}
	}
	return map[string]Question{
		"expired":     {selectExpired, []any{k.Name, now.Add(-k.Keep).UnixMicro()}, []string{"batch_kept"}},
		"completed":   list(func(f *filter) { f.stands = schema.BatchCompleted }, "batch_completed"),
		"queued":      list(func(f *filter) { f.stands = schema.BatchQueued }, "batch_open"),
		"all":         list(func(*filter) {}, "batch_account", "sqlite_autoindex_batch_2"), // SQLite may sort what one account has
		"a day":       list(func(f *filter) { f.from, f.to = 5_000, 15_000 }, "batch_account"),
		"the next":    list(func(f *filter) { f.after = "bat_110000" }, "batch_account"),
		"a reference": list(func(f *filter) { f.ref = "17" }, "batch_account_id_mode_kind_ref_id_key", "sqlite_autoindex_batch_2"),
	}
}

// Lease is how long leases last.
func (s *Service) Lease(d time.Duration) {
	for _, w := range s.workers {
		w.pace.lease = d
	}
}

// Taken takes a body apart, and returns its ref_id and the records of each chunk.
func (k *Kind) Taken(c *httpapi.Call) (ref string, chunks [][][]byte, err error) {
	want, err := k.read(c)
	if err != nil {
		return "", nil, err
	}
	for _, p := range want.chunks {
		one := &chunk{first: p.first, count: p.count, bytes: p.text(c.Body)}
		all, duplicates, err := one.records()
		if err != nil {
			return "", nil, err
		}
		var values [][]byte
		for _, d := range duplicates {
			all = append(all, d.record)
		}
		slices.SortFunc(all, func(a, b record) int { return a.index - b.index })
		for _, r := range all {
			values = append(values, r.value)
		}
		chunks = append(chunks, values)
	}
	return want.ref, chunks, nil
}

// EnterSandbox takes the place of the one batch of the sandbox that may be accepted at a time.
func (s *Service) EnterSandbox(ctx context.Context) (leave func(), err error) {
	return s.enterSandbox(ctx)
}

// SealChunk seals the records of a chunk.
var SealChunk = sealChunk

// RefOf is the ref_id of a record.
var RefOf = refOf

// Claim leases chunks of an account for an hour, with room for so many bytes, and
// returns how many.
func Claim(tx *sqlstore.Tx, now time.Time, account string, most, room int) (n int, whole bool, err error) {
	all, whole, err := claim(tx, now, []want{{account, most}}, lease{kind: "recharge", token: "token", until: now.Add(time.Hour), room: room})
	return len(all), whole, err
}

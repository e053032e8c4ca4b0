package batch

import (
	"context"
	"math"
	"slices"
	"time"

	"vayu/internal/httpapi"
	"vayu/internal/sqlstore"
	"vayu/internal/workqueue"
	"vayu/pipeline/batch/body"
	"vayu/pipeline/batch/item"
	"vayu/schema"
)

// ShortenPauses shortens the intervals and pauses of a service.
func (s *Service) ShortenPauses() {
	for _, w := range s.workers {
		w.timing.pollInterval, w.timing.minBackoff, w.timing.maxBackoff = 20*time.Millisecond, 5*time.Millisecond, 40*time.Millisecond
	}
}

// NoGrace cancels records at once when the service stops.
func (s *Service) NoGrace() {
	for _, w := range s.workers {
		w.timing.grace = 0
	}
}

// PurgeAtOnce deletes results as soon as they expire.
func (s *Service) PurgeAtOnce() {
	for _, w := range s.workers {
		w.timing.purgeInterval, w.timing.purgeDelay = 5*time.Millisecond, 0
	}
}

// Query is a query of batches, with its arguments and the indexes that it may use.
type Query struct {
	Text  string
	Args  []any
	Index []string
}

// Queries returns the queries of batches of an account, by what they select.
func Queries(k *item.Kind, account string, now time.Time) map[string]Query {
	list := func(change func(*filter), index ...string) Query {
		f := filter{owner: schema.Owner{Account: account}, from: math.MinInt64, to: math.MaxInt64, limit: 100}
		change(&f)
		text, args := page(k, &f, now)
		return Query{text, args, index}
	}
	return map[string]Query{
		"expired":     {selectExpired, []any{k.Name, now.Add(-k.Retention).UnixMicro()}, []string{"batch_kept"}},
		"completed":   list(func(f *filter) { f.state = schema.BatchCompleted }, "batch_completed"),
		"queued":      list(func(f *filter) { f.state = schema.BatchQueued }, "batch_open"),
		"all":         list(func(*filter) {}, "batch_account", "sqlite_autoindex_batch_2"), // SQLite may sort what one account has
		"a day":       list(func(f *filter) { f.from, f.to = 5_000, 15_000 }, "batch_account"),
		"the next":    list(func(f *filter) { f.after = "bat_110000" }, "batch_account"),
		"a reference": list(func(f *filter) { f.ref = "17" }, "batch_account_id_mode_kind_ref_id_key", "sqlite_autoindex_batch_2"),
	}
}

// SetLease sets the duration of leases.
func (s *Service) SetLease(d time.Duration) {
	for _, w := range s.workers {
		w.timing.lease = d
	}
}

// ParseBody parses a body, and returns its ref_id and the records of each chunk.
func ParseBody(c *httpapi.Call, array string) (ref string, chunks [][][]byte, err error) {
	parsed, err := body.Parse(c, array)
	if err != nil {
		return "", nil, err
	}
	for _, p := range parsed.Chunks {
		one := &chunk{first: p.First, count: p.Count, bytes: p.Text(c.Body)}
		all, duplicates, err := one.records()
		if err != nil {
			return "", nil, err
		}
		var values [][]byte
		for _, d := range duplicates {
			all = append(all, d.chunkRecord)
		}
		slices.SortFunc(all, func(a, b chunkRecord) int { return a.index - b.index })
		for _, r := range all {
			values = append(values, r.value)
		}
		chunks = append(chunks, values)
	}
	return parsed.Ref, chunks, nil
}

// EnterSandbox occupies the slot for accepting a sandbox batch.
func (s *Service) EnterSandbox(ctx context.Context) (leave func(), err error) {
	return s.enterSandbox(ctx)
}

// EncryptChunk encrypts the records of a chunk.
var EncryptChunk = encryptChunk

// Claim leases chunks of an account for an hour, up to a number of bytes, and returns
// their number.
func Claim(tx *sqlstore.Tx, now time.Time, account string, most, room int) (n int, whole bool, err error) {
	all, whole, err := claim(tx, now, "recharge", []leaseRequest{{account, most}}, workqueue.Lease{Token: "token", Until: now.Add(time.Hour)}, room)
	return len(all), whole, err
}

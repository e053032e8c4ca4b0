package batch

import (
	"time"

	"vayu/internal/api"
	"vayu/internal/state"
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

// Questions are the statements that look for batches by whether their results are
// kept, by what they look for.
func (k *Kind) Questions(now time.Time) map[string]string {
	return map[string]string{"completed": k.selectPage(schema.BatchCompleted, now), "expired": selectExpired}
}

// Lease is how long leases last.
func (s *Service) Lease(d time.Duration) {
	for _, w := range s.workers {
		w.pace.lease = d
	}
}

// Taken takes a body apart, and returns its ref_id and the records of each chunk.
func (k *Kind) Taken(c *api.Call) (ref string, chunks [][][]byte, err error) {
	want, err := k.read(c)
	if err != nil {
		return "", nil, err
	}
	for _, p := range want.chunks {
		one := &chunk{first: p.first, count: p.count, bytes: c.Body[p.from:p.to]}
		all, err := one.records()
		if err != nil {
			return "", nil, err
		}
		var values [][]byte
		for _, r := range all {
			values = append(values, r.value)
		}
		chunks = append(chunks, values)
	}
	return want.ref, chunks, nil
}

// SealChunk seals the records of a chunk.
var SealChunk = sealChunk

// RefOf is the ref_id of a record.
var RefOf = refOf

// Claim leases chunks of an account for an hour, with room for so many bytes, and
// returns how many.
func Claim(tx *state.Tx, now time.Time, account string, most, room int) (n int, whole bool, err error) {
	all, whole, err := claim(tx, now, []want{{account, most}}, lease{kind: "recharge", token: "token", until: now.Add(time.Hour), room: room})
	return len(all), whole, err
}

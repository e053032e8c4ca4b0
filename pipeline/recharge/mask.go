package recharge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"vayu/internal/sleep"
	"vayu/internal/sqlstore"
	"vayu/schema"
)

const (
	// maskEvery is the time between two sweeps for recharges whose number is to be
	// masked. It is short against 24 hours, the least value of the setting.
	maskEvery = 10 * time.Minute
	// maskMost is how many numbers are masked in one transaction: some milliseconds, for
	// which other changes wait.
	maskMost = 100
	// maskPause is the time between two of these transactions. A store with a million
	// old recharges is masked within a quarter of an hour.
	maskPause = 50 * time.Millisecond
)

// settledRows are recharges with a clear number to which nothing is left to do: they are
// final, no refund is asked for, and no alarm is open. It is the condition of the index
// recharge_clear.
const settledRows = "number_digest IS NULL AND due_at IS NULL AND finished_at IS NOT NULL AND (alarm = '' OR resolved_at IS NOT NULL)"

const (
	selectClear = "SELECT id, number FROM recharge WHERE " + settledRows + ` AND finished_at < $1
		AND (refunded_at IS NULL OR refunded_at < $1) AND (resolved_at IS NULL OR resolved_at < $1)
	ORDER BY finished_at LIMIT $2`
	maskRow = "UPDATE recharge SET number = $2, number_digest = $3 WHERE id = $1 AND " + settledRows
)

// clearNumber is a number that is to be masked.
type clearNumber struct{ id, number string }

func scanNumber(row sqlstore.Scanner) (c clearNumber, err error) {
	err = row.Scan(&c.id, &c.number)
	return c, err
}

// maskOld masks numbers until ctx ends.
func (s *Service) maskOld(ctx context.Context) {
	for s.MaskAfter > 0 {
		span := maskEvery
		n, err := s.Mask(ctx)
		s.metrics.masks.Tell(ctx, err)
		if n == maskMost {
			span = maskPause
		}
		if !sleep.For(ctx, span) {
			return
		}
	}
}

// Mask masks the numbers of up to 100 recharges that are settled, and whose last change
// was more than MaskAfter ago, in one transaction. It returns how many.
func (s *Service) Mask(ctx context.Context) (n int, err error) {
	before := s.Now().Add(-s.MaskAfter).UnixMicro()
	old, err := sqlstore.All(s.DB.View(ctx), scanNumber, selectClear, before, maskMost)
	if err != nil || len(old) == 0 {
		return 0, err
	}
	err = s.DB.Update(ctx, func(tx *sqlstore.Tx) (err error) {
		n, err = s.maskAll(tx, old)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("masking numbers of recharges: %w", err)
	}
	s.metrics.masked.Add(float64(n))
	return n, nil
}

// maskAll masks numbers, and returns how many. It passes over a recharge to which
// something happened since it was read.
func (s *Service) maskAll(tx *sqlstore.Tx, old []clearNumber) (n int, err error) {
	for _, c := range old {
		changed, err := tx.Exec(maskRow, c.id, schema.MaskNumber(c.number), s.numberDigest(c.id, c.number))
		if err != nil {
			return 0, err
		}
		n += int(changed)
	}
	return n, nil
}

// numberDigest is what is kept of a number that was masked. The id is in it, so that
// recharges of one number cannot be told by it.
func (s *Service) numberDigest(id, number string) []byte {
	return s.Box.Digest("recharge/number", []byte(id), []byte(number))
}

// sameNumber says whether a recharge is of a number.
func (s *Service) sameNumber(r *Record, number string) bool {
	if r.Digest == nil {
		return r.Number == number
	}
	return bytes.Equal(r.Digest, s.numberDigest(r.ID, number))
}

// ClearNumber returns the number of a recharge of an owner; "" when there is none, or
// when it was masked.
func (s *Service) ClearNumber(ctx context.Context, o schema.Owner, id string) (string, error) {
	r, err := s.Find(ctx, o, id)
	switch {
	case errors.Is(err, errNoRecharge) || r.Digest != nil:
		return "", nil
	case err != nil:
		return "", fmt.Errorf("reading the number of %s: %w", id, err)
	}
	return r.Number, nil
}

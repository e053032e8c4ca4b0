package recharge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"vayu/internal/sleep"
	"vayu/internal/sqlstore"
	"vayu/pipeline/recharge/record"
	"vayu/schema"
)

const (
	// maskInterval is the time between two sweeps over old recharges. It is short compared with
	// minMaskAfter, the minimum of the setting mask-after.
	maskInterval = 10 * time.Minute
	// maskBatchSize is how many numbers one transaction masks at most. A transaction of this size blocks other
	// writers for a few milliseconds.
	maskBatchSize = 100
	// maskPause is the time between two transactions of a sweep. A million old recharges
	// are masked in a quarter of an hour.
	maskPause = 50 * time.Millisecond
)

// maskableRows selects final recharges with an unmasked number, no scheduled call and no open
// alarm. The partial index recharge_clear has the same condition.
const maskableRows = "number_digest IS NULL AND due_at IS NULL AND finished_at IS NOT NULL AND (alarm = '' OR resolved_at IS NOT NULL)"

const (
	selectClear = "SELECT id, number FROM recharge WHERE " + maskableRows + ` AND finished_at < $1
		AND (refunded_at IS NULL OR refunded_at < $1) AND (resolved_at IS NULL OR resolved_at < $1)
	ORDER BY finished_at LIMIT $2`
	maskRow = "UPDATE recharge SET number = $2, number_digest = $3 WHERE id = $1 AND " + maskableRows
)

// clearNumber is an unmasked number, with the id of its recharge.
type clearNumber struct{ id, number string }

func scanNumber(row sqlstore.Scanner) (c clearNumber, err error) {
	err = row.Scan(&c.id, &c.number)
	return c, err
}

// maskLoop masks the numbers of old recharges until ctx ends. It does nothing if MaskAfter is 0.
func (s *Service) maskLoop(ctx context.Context) {
	for s.settings.MaskAfter > 0 {
		span := maskInterval
		n, err := s.MaskNumbers(ctx)
		s.metrics.masks.Observe(ctx, err)
		if n == maskBatchSize {
			span = maskPause
		}
		if !sleep.For(ctx, span) {
			return
		}
	}
}

// MaskNumbers masks the numbers of up to 100 settled recharges whose last change is older than
// mask-after, in one transaction. It returns how many it has masked.
func (s *Service) MaskNumbers(ctx context.Context) (n int, err error) {
	before := s.Now().Add(-s.settings.MaskAfter).UnixMicro()
	old, err := sqlstore.All(s.DB.View(ctx), scanNumber, selectClear, before, maskBatchSize)
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

// maskAll masks numbers and returns how many it masked. It skips recharges that no longer match maskableRows.
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

// numberDigest returns the digest that replaces a masked number. It depends on the full number and
// on the recharge's id, so recharges of the same number have different digests.
func (s *Service) numberDigest(id, number string) []byte {
	return s.Cipher.Digest("recharge/number", []byte(id), []byte(number))
}

// sameNumber reports whether a recharge has the given number, even if the stored one is masked.
func (s *Service) sameNumber(r *record.Record, number string) bool {
	if r.Digest == nil {
		return r.Number == number
	}
	return bytes.Equal(r.Digest, s.numberDigest(r.ID, number))
}

// ClearNumber returns the number of an owner's recharge; "" if there is no such recharge, or if the number is masked.
func (s *Service) ClearNumber(ctx context.Context, o schema.Owner, id string) (string, error) {
	r, err := s.Core.Find(ctx, o, id)
	switch {
	case errors.Is(err, record.ErrMissing) || r.Digest != nil:
		return "", nil
	case err != nil:
		return "", fmt.Errorf("reading the number of %s: %w", id, err)
	}
	return r.Number, nil
}

const erasedNumber = "X"

// Personal describes the personal data that is erased with an account: numbers, the client's
// references and the reasons of refunds. The ledger needs the rest of a recharge.
func Personal() []sqlstore.Erasure {
	return []sqlstore.Erasure{{
		Table: "recharge", Key: []string{"id"}, Set: "number = '" + erasedNumber + "', number_digest = '', ref_id = id, refund_reason = ''",
		From: "recharge t WHERE t.account_id = $1 AND (t.number <> '" + erasedNumber + "' OR t.number_digest IS NULL OR t.number_digest <> '' OR t.ref_id <> t.id OR t.refund_reason <> '')",
	}}
}

package transaction

import (
	"database/sql"
	"errors"
	"fmt"
	"time"

	"vayu/internal/sqlstore"
	"vayu/schema"
)

// Step is a call to a provider, or another source of a result such as a callback, and the kind
// of the answer. Consecutive equal steps are stored as one Step with a count, Times.
type Step struct {
	Act         schema.StepAct
	Answer      schema.StepAnswer
	First, Last time.Time // times at which the answers were recorded
	Times       int
}

// maxSteps bounds the stored steps of one subject (a recharge or verification). An enquiry every
// ten minutes, with alternating answers, would add 144 steps a day. At the limit, a new step
// replaces the last one. So the beginning and the newest step stay.
const maxSteps = 100

const (
	repeatStep = `UPDATE upstream_step SET times = times + 1, last_at = CASE WHEN last_at > $4 THEN last_at ELSE $4 END
	WHERE subject = $1 AND number = (SELECT max(number) FROM upstream_step WHERE subject = $1) AND act = $2 AND answer = $3
	RETURNING last_at`
	// Steps keep their order despite clock skew between instances: no step is earlier than the
	// one before it.
	insertStep = `INSERT INTO upstream_step (subject, number, act, answer, first_at, last_at, times)
	SELECT CAST($1 AS TEXT), COALESCE(max(number), 0) + 1, CAST($2 AS TEXT), CAST($3 AS TEXT), CASE WHEN max(last_at) > $4 THEN max(last_at) ELSE CAST($4 AS BIGINT) END,
		CASE WHEN max(last_at) > $4 THEN max(last_at) ELSE CAST($4 AS BIGINT) END, 1
	FROM upstream_step WHERE subject = $1 HAVING COALESCE(max(number), 0) < $5 RETURNING last_at`
	replaceStep = `UPDATE upstream_step SET act = $2, answer = $3, times = 1, first_at = CASE WHEN last_at > $4 THEN last_at ELSE $4 END,
		last_at = CASE WHEN last_at > $4 THEN last_at ELSE $4 END WHERE subject = $1 AND number = $5
	RETURNING last_at`
)

// RecordStep stores a call to a provider and the kind of its answer, in the transaction that
// records the result. The caller must update the subject's row first, to lock out concurrent
// writers. A final first answer needs no step, because the subject's row has the answer.
// RecordStep returns the time of the step: the given time, or that of a later previous step.
func RecordStep(tx *sqlstore.Tx, subject string, act schema.StepAct, answer schema.StepAnswer, at time.Time) (time.Time, error) {
	args := []any{subject, string(act), string(answer), at.UnixMicro()}
	var last int64
	err := tx.QueryRow(repeatStep, args...).Scan(&last)
	for _, text := range [...]string{insertStep, replaceStep} {
		if !errors.Is(err, sql.ErrNoRows) {
			break
		}
		err = tx.QueryRow(text, append(args, maxSteps)...).Scan(&last)
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("recording a step of %s: %w", subject, err)
	}
	return time.UnixMicro(last).UTC(), nil
}

const selectSteps = "SELECT act, answer, first_at, last_at, times FROM upstream_step WHERE subject = $1 ORDER BY number"

// Steps returns the steps of a subject in their order.
func Steps(q sqlstore.Querier, subject string) ([]Step, error) {
	all, err := sqlstore.All(q, func(row sqlstore.Scanner) (s Step, err error) {
		var first, last int64
		err = row.Scan(&s.Act, &s.Answer, &first, &last, &s.Times)
		s.First, s.Last = time.UnixMicro(first).UTC(), time.UnixMicro(last).UTC()
		return s, err
	}, selectSteps, subject)
	if err != nil {
		return nil, fmt.Errorf("reading the steps of %s: %w", subject, err)
	}
	return all, nil
}

// readWithSteps reads a row with find, and its steps. Ended reports whether a row is
// finished. The steps of a pending row are never newer than the row. The steps of a finished
// row include the step that finished it, because the steps of such a row are read a second time.
func readWithSteps[R any](q sqlstore.Querier, subject string, find func() (R, error), ended func(*R) bool) (r R, steps []Step, err error) {
	if steps, err = Steps(q, subject); err != nil {
		return r, nil, err
	}
	if r, err = find(); err == nil && ended(&r) {
		steps, err = Steps(q, subject)
	}
	return r, steps, err
}

// DeleteSteps deletes the steps of subjects, in the transaction that deletes the subjects.
func DeleteSteps(tx *sqlstore.Tx, subjects []string) error {
	many := sqlstore.NewBatchStatement(0, "DELETE FROM upstream_step WHERE subject IN (", "?", ")")
	return many.Each(len(subjects), func(text string, from, to int) error {
		args := make([]any, 0, to-from)
		for _, subject := range subjects[from:to] {
			args = append(args, subject)
		}
		_, err := tx.Exec(text, args...)
		return err
	})
}

package upstream

import (
	"database/sql"
	"errors"
	"fmt"
	"time"

	"vayu/internal/sqlstore"
	"vayu/schema"
)

// Step is what an upstream was asked, or told by itself, and what kind of answer
// came, so often one after the other.
type Step struct {
	Act         schema.StepAct
	Answer      schema.StepAnswer
	First, Last time.Time // when the answer was recorded
	Times       int
}

// stepsMost is how many steps of one thing are kept: who is asked every ten minutes for
// days, and is away now and then, would have thousands. Once there are so many, the
// newest takes the place of the last, so that the beginning and the end are known.
const stepsMost = 100

const (
	repeatStep = `UPDATE upstream_step SET times = times + 1, last_at = CASE WHEN last_at > $4 THEN last_at ELSE $4 END
	WHERE subject = $1 AND number = (SELECT max(number) FROM upstream_step WHERE subject = $1) AND act = $2 AND answer = $3
	RETURNING last_at`
	// A step is not earlier than the one before it: clocks of instances differ.
	insertStep = `INSERT INTO upstream_step (subject, number, act, answer, first_at, last_at, times)
	SELECT CAST($1 AS TEXT), COALESCE(max(number), 0) + 1, CAST($2 AS TEXT), CAST($3 AS TEXT), CASE WHEN max(last_at) > $4 THEN max(last_at) ELSE CAST($4 AS BIGINT) END,
		CASE WHEN max(last_at) > $4 THEN max(last_at) ELSE CAST($4 AS BIGINT) END, 1
	FROM upstream_step WHERE subject = $1 HAVING COALESCE(max(number), 0) < $5 RETURNING last_at`
	replaceStep = `UPDATE upstream_step SET act = $2, answer = $3, times = 1, first_at = CASE WHEN last_at > $4 THEN last_at ELSE $4 END,
		last_at = CASE WHEN last_at > $4 THEN last_at ELSE $4 END WHERE subject = $1 AND number = $5
	RETURNING last_at`
)

// Note records what an upstream was asked about a subject and what kind of answer
// came, in the transaction that records the look. The caller has changed the subject's
// row in it before, which has others wait who would record about the same. A first answer
// that is final needs no step: the row says it. It returns the time that the step has:
// a later one than at, when another instance's clock was ahead.
func Note(tx *sqlstore.Tx, subject string, act schema.StepAct, answer schema.StepAnswer, at time.Time) (time.Time, error) {
	args := []any{subject, string(act), string(answer), at.UnixMicro()}
	var last int64
	err := tx.QueryRow(repeatStep, args...).Scan(&last)
	for _, text := range [...]string{insertStep, replaceStep} {
		if !errors.Is(err, sql.ErrNoRows) {
			break
		}
		err = tx.QueryRow(text, append(args, stepsMost)...).Scan(&last)
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("recording a step of %s: %w", subject, err)
	}
	return time.UnixMicro(last).UTC(), nil
}

const selectSteps = "SELECT act, answer, first_at, last_at, times FROM upstream_step WHERE subject = $1 ORDER BY number"

// Steps are those of a subject, in their order.
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

// Told reads a thing with find, and its steps. Of one that waits these are no newer than
// the thing, so that they never say more than it does; of one that has ended no older, so that
// what ended it is among them.
func Told[R any](q sqlstore.Querier, subject string, find func() (R, error), ended func(*R) bool) (r R, steps []Step, err error) {
	if steps, err = Steps(q, subject); err != nil {
		return r, nil, err
	}
	if r, err = find(); err == nil && ended(&r) {
		steps, err = Steps(q, subject)
	}
	return r, steps, err
}

// Forget deletes the steps of subjects, in the transaction that deletes these.
func Forget(tx *sqlstore.Tx, subjects []string) error {
	many := sqlstore.Group(0, "DELETE FROM upstream_step WHERE subject IN (", "?", ")")
	return many.Each(len(subjects), func(text string, from, to int) error {
		args := make([]any, 0, to-from)
		for _, subject := range subjects[from:to] {
			args = append(args, subject)
		}
		_, err := tx.Exec(text, args...)
		return err
	})
}

package account

import (
	"math/bits"
	"strconv"
	"strings"

	"vayu/internal/state"
)

// statement is an INSERT of many rows with what stands before and after its
// VALUES.
type statement struct {
	head, tail string
}

var (
	addUsage = statement{
		"INSERT INTO usage_day (account_id, mode, day, operation, calls, failed, counted) VALUES ",
		" ON CONFLICT (account_id, mode, day, operation) DO UPDATE SET calls = usage_day.calls + excluded.calls, failed = usage_day.failed + excluded.failed, counted = usage_day.counted + excluded.counted",
	}
	addQuota = statement{
		"INSERT INTO quota_period (account_id, period, used, changed_at) VALUES ",
		" ON CONFLICT (account_id, period) DO UPDATE SET used = quota_period.used + excluded.used, changed_at = excluded.changed_at RETURNING account_id, period, used, warned_at IS NOT NULL, exceeded_at IS NOT NULL",
	}
	setKeyUse = statement{
		"INSERT INTO api_key_use (key_id, used_at) VALUES ",
		" ON CONFLICT (key_id) DO UPDATE SET used_at = excluded.used_at WHERE excluded.used_at > api_key_use.used_at",
	}
)

// upsertMost rows go into one statement: enough that the way to a server does
// not matter. Numbers of rows are powers of two, so that a connection prepares
// eight forms of each statement and not hundreds.
const upsertMost = 128

// upsert runs a statement for all rows, and calls do for every row it returns.
func upsert(tx *state.Tx, s statement, rows [][]any, do func(state.Scanner) error) error {
	for len(rows) > 0 {
		n := 1 << (bits.Len(uint(min(len(rows), upsertMost))) - 1)
		text, args := s.of(rows[:n])
		rows = rows[n:]
		if do != nil {
			if err := state.Each(tx, do, text, args...); err != nil {
				return err
			}
		} else if _, err := tx.Exec(text, args...); err != nil {
			return err
		}
	}
	return nil
}

// of is the statement's text for some rows, and their values.
func (s statement) of(rows [][]any) (text string, args []any) {
	var b strings.Builder
	b.WriteString(s.head)
	for i, row := range rows {
		if i > 0 {
			b.WriteString(", ")
		}
		for j, value := range row {
			b.WriteByte("(,"[min(j, 1)])
			args = append(args, value)
			b.WriteString("$" + strconv.Itoa(len(args)))
		}
		b.WriteByte(')')
	}
	b.WriteString(s.tail)
	return b.String(), args
}

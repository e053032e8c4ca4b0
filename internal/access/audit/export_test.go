package audit

import (
	"math"

	"vayu/schema"
)

// ScanLimit is the number of rows that one page scans.
const ScanLimit = scanLimit

// Queries returns the statements of a page of the audit log. at and seq are those of the last
// row that it scans.
func Queries(owner schema.Owner, subject, actor, action string, at, seq int64) (query, lowest string, args, lowestArgs []any) {
	s := selection{owner: owner, subject: subject, actor: actor, action: action, from: math.MinInt64, to: math.MaxInt64}
	var floor *position
	if s.filters() {
		floor = &position{at, seq}
	}
	query, args = s.query(s.start(), floor, 100)
	lowest, lowestArgs = s.lowest(s.start())
	return query, lowest, args, lowestArgs
}

// Inert exports inert.
var Inert = inert

// VerifyPages exports verifyPages.
var VerifyPages = verifyPages

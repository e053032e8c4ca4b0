package quality

import "vayu/schema/statement"

// FlaggedReadings returns the SQL of a subquery, in parentheses, with one row for
// each suspect or failed reading. Other readings are good or were not evaluated.
//
// The columns of the subquery are `station`, `parameter`, `at`, `kind`, `averaging`,
// `worst` and `excluded`. `worst` is the worst flag of the reading. `excluded` is 1
// if the reading does not count in the index, because it failed or a test of
// [Settings.Exclude] flagged it. Otherwise it is 0.
//
// The condition selects rows of the table reading_quality by `station`, `parameter`
// and `at`. It may use query parameters of the enclosing statement, for example:
//
//	FROM reading FINAL AS r
//	LEFT JOIN ` + tester.FlaggedReadings("station IN {stations:Array(String)} AND at > …") + ` AS v
//		ON v.station = r.station AND v.parameter = r.parameter AND v.at = r.at AND v.kind = r.kind AND v.averaging = r.averaging
//
// For a reading that has no row in the subquery, this join gives 0 for `excluded`
// and `worst`.
func (t *Tester) FlaggedReadings(condition string) string {
	excludes := "flag = 'fail'"
	if len(t.settings.Exclude) > 0 {
		excludes += " OR test IN (" + statement.QuoteAll(t.settings.Exclude) + ")"
	}
	return "(SELECT station, parameter, at, kind, averaging, max(toUInt8(flag)) AS worst, max(" + excludes + ") AS excluded FROM " + t.database +
		".reading_quality FINAL WHERE flag IN ('suspect', 'fail') AND " + condition + " GROUP BY station, parameter, at, kind, averaging)"
}

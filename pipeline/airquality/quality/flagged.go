package quality

import "strings"

// Verdicts is the SQL of a subquery, in parentheses, with one row for each
// reading whose verdict is suspect or fail: station, parameter, at, kind,
// averaging, the worst flag, and excluded, which is 1 when the index leaves the
// reading out: it fails, or one of the tests of [Settings.Exclude] is not
// passed. Readings without a row are good, or were not evaluated.
//
// The condition selects rows of reading_quality by station, parameter and at. It
// may hold parameters of the statement that the subquery becomes part of:
//
//	FROM reading FINAL AS r
//	LEFT JOIN ` + judge.Verdicts("station IN {stations:Array(String)} AND at > …") + ` AS v
//		ON v.station = r.station AND v.parameter = r.parameter AND v.at = r.at AND v.kind = r.kind AND v.averaging = r.averaging
//
// In rows without a partner excluded is 0 and worst is 0 as a number.
func (t *Judge) Verdicts(condition string) string {
	excludes := "flag = 'fail'"
	if len(t.settings.Exclude) > 0 {
		names := make([]string, len(t.settings.Exclude))
		for i, name := range t.settings.Exclude {
			names[i] = literal(name)
		}
		excludes += " OR test IN (" + strings.Join(names, ", ") + ")"
	}
	return "(SELECT station, parameter, at, kind, averaging, max(toUInt8(flag)) AS worst, max(" + excludes + ") AS excluded FROM " + t.database +
		".reading_quality FINAL WHERE flag IN ('suspect', 'fail') AND " + condition + " GROUP BY station, parameter, at, kind, averaging)"
}

package console

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"vayu/internal/columnstore/embedded"
)

var dateTime = regexp.MustCompile(`^(?:Nullable\()?DateTime(?:\(('[^']*')\))?\)?$`)

// instants returns a query whose DateTime columns become timestamps in Arrow. ClickHouse writes a DateTime as a number
// of seconds, but a DateTime64 as a timestamp. instants therefore converts each DateTime to a DateTime64. If the query
// has no DateTime or is wrong, instants returns it unchanged.
func (c *Console) instants(ctx context.Context, s embedded.Statement) string {
	switch s.Verb {
	case "SELECT", "WITH", "FROM":
	default:
		return s.Text
	}
	columns, err := c.rows(ctx, "DESCRIBE TABLE (\n"+s.Text+"\n)")
	if err != nil {
		return s.Text // the query itself has a better error
	}
	seen := map[string]bool{}
	var replaced []string
	for _, column := range columns {
		if seen[column[0]] || len(column) < 2 || strings.ContainsAny(column[0], "`\\") {
			return s.Text // REPLACE needs unique names
		}
		seen[column[0]] = true
		if m := dateTime.FindStringSubmatch(column[1]); m != nil {
			zone := m[1]
			if zone == "" {
				zone = "'UTC'"
			}
			replaced = append(replaced, fmt.Sprintf("toDateTime64(`%[1]s`, 6, %[2]s) AS `%[1]s`", column[0], zone))
		}
	}
	if len(replaced) == 0 {
		return s.Text
	}
	return "SELECT * REPLACE (" + strings.Join(replaced, ", ") + ") FROM (\n" + s.Text + "\n) SETTINGS query_plan_remove_redundant_sorting = 0"
}

package preview

import (
	"fmt"
	"io"

	"vayu/ingest/runner"
	"vayu/schema"
)

// Summary writes the summary of an import. `path` and `format` describe the input.
func Summary(w io.Writer, path, format string, s runner.Summary) {
	resumed := ""
	if s.Resumed {
		resumed = ", went on with an interrupted import"
	}
	fmt.Fprintf(w, "%s: %s%s\n%9d read\n%9d stored, of %d stations, %.0f a second\n", path, format, resumed,
		s.Read, s.Stored, s.Stations, float64(s.Stored)/s.Elapsed.Seconds())
	if s.Withdrawn > 0 {
		fmt.Fprintf(w, "%9d stored readings withdrawn: the file has no figure for them\n", s.Withdrawn)
	}
	if s.RecordError != nil {
		fmt.Fprintf(w, "the import is not recorded in %s: %v\n", schema.OpsDatabase, s.RecordError)
	}
	Rejections(w, s.Rejected)
	for reason, n := range s.Positions {
		fmt.Fprintf(w, "%9d positions refused: %s\n", n, reason)
	}
}

package kit

import (
	"context"
	"strings"

	"vayu/ingest"
	"vayu/ingest/conformance"
)

// checkPaths checks that each path in the description exists in a record of some test case. A fetch does not report a
// wrong path of an optional field. For example, a quality test with a wrong path rejects nothing.
func (r *Report) checkPaths(ctx context.Context, open conformance.Opener, folders []string) error {
	var paths ingest.Paths
	for _, dir := range folders {
		c, err := conformance.Load(dir)
		if err != nil {
			return err
		}
		recorder := ingest.Recorder{Paths: &paths}
		if _, err := c.Serve(ctx, func() error {
			src, err := open(c)
			if err != nil {
				return nil //nolint:nilerr // the check of the case reports it
			}
			_, _ = conformance.Fetch(ingest.WithRecorder(ctx, &recorder), src, c.Window(), c.Now) // the check of the case reports an error
			return ctx.Err()
		}); err != nil {
			return err
		}
	}
	absent := paths.Absent()
	if len(absent) == 0 {
		r.add("paths", Pass, "each path of the description is in a record of a case")
		return nil
	}
	var all []string
	for _, one := range absent {
		all = append(all, one.String())
	}
	all = append(all, "correct the path or remove the key, or record a case in which a record has the field")
	r.add("paths", Fail, "%s", strings.Join(all, "\n"))
	return nil
}

package file

import (
	"testing"

	"vayu/ingest"
	"vayu/ingest/sourcetest"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	sourcetest.Run(t, "testdata", func(c *sourcetest.Case) (ingest.Source, error) {
		return Open("file", c.Path, 0, c.Clock, shippedFormats(t))
	})
}

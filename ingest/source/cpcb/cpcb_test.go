package cpcb

import (
	"testing"
	"time"

	"vayu/ingest"
	"vayu/ingest/sourcetest"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	sourcetest.Run(t, "testdata", func(c *sourcetest.Case) (ingest.Source, error) {
		config := Config{URL: c.URL, Timeout: 20 * time.Second, MaxBytes: 64 << 10}
		return config.New("cpcb", c.Clock)
	})
}

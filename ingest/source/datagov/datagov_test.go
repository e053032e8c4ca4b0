package datagov

import (
	"testing"
	"time"

	"vayu/ingest"
	"vayu/ingest/sourcetest"
	"vayu/internal/config"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	sourcetest.Run(t, "testdata", func(c *sourcetest.Case) (ingest.Source, error) {
		conf := DefaultConfig()
		conf.URL, conf.Key = c.URL, config.NewSecret(sourcetest.Key)
		conf.Timeout, conf.MaxBytes, conf.MaxPages = 20*time.Second, 64<<10, 5
		return conf.New("datagov", c.Clock)
	})
}

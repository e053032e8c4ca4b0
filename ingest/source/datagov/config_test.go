package datagov

import (
	"strings"
	"testing"
	"time"

	"vayu/ingest/sourcetest"
	"vayu/internal/config"
)

func TestConfig(t *testing.T) {
	t.Parallel()
	good := DefaultConfig()
	good.Key = config.NewSecret(sourcetest.Key)
	if _, err := good.New("datagov", time.Now); err != nil {
		t.Errorf("the default with a key: %v", err)
	}
	for want, spoil := range map[string]func(*Config){
		"key is missing":  func(c *Config) { c.Key = config.Secret{} },
		"without a query": func(c *Config) { c.URL += "?api-key=" + sourcetest.Key },
		"http or https":   func(c *Config) { c.URL = "file:///etc/passwd" },
		"positive":        func(c *Config) { c.Limit = 0 },
	} {
		c := good
		spoil(&c)
		_, err := c.New("datagov", time.Now)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), sourcetest.Key) {
			t.Errorf("error %v, want one with %q and without the key", err, want)
		}
	}
}

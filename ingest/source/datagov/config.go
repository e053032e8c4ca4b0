// Package datagov fetches the mirror of CPCB's feed on India's open data portal, resource
// 3b01bcb8-0b14-4abf-b6f2-c1bfd384ba69. The portal returns it in pages of JSON and requires a key.
package datagov

import (
	"errors"
	"fmt"
	"net/url"
	"time"

	"vayu/ingest"
	"vayu/ingest/fetch"
	"vayu/internal/config"
)

// Config configures the source.
type Config struct {
	// URL is the address of the resource, without a query.
	URL string `yaml:"url"`
	// Key is the portal's API key.
	Key config.Secret `yaml:"key"`
	// Timeout bounds the request of one page.
	Timeout time.Duration `yaml:"timeout"`
	// MaxBytes is the size of the largest accepted page in bytes. A page of 300 records has about 100 KB.
	MaxBytes config.Size `yaml:"max-bytes"`
	// Limit is the number of records in a page. Requests of 1,000 records may time out; 300 works.
	Limit int `yaml:"limit"`
	// MaxPages is the largest number of pages in a fetch. The resource has about 3,500 records: 12 pages of 300
	// records. A shared key gets only 10 records in a page, and needs 350 pages.
	MaxPages int `yaml:"max-pages"`
}

// DefaultConfig returns the configuration for the public resource, without a key.
func DefaultConfig() Config {
	return Config{
		URL:     "https://api.data.gov.in/resource/3b01bcb8-0b14-4abf-b6f2-c1bfd384ba69",
		Timeout: 60 * time.Second, MaxBytes: 16 << 20, Limit: 300, MaxPages: 1000,
	}
}

// New builds the source. `name` becomes the field Source of its readings.
func (c Config) New(name string, clock func() time.Time) (ingest.Source, error) {
	u, err := url.Parse(c.URL)
	var faults []error
	if err != nil || u.Host == "" || u.RawQuery != "" || (u.Scheme != "http" && u.Scheme != "https") {
		faults = append(faults, errors.New("url is not an http or https address without a query"))
	}
	if !c.Key.IsSet() {
		faults = append(faults, errors.New("key is missing (every account of data.gov.in has one)"))
	}
	if c.Timeout <= 0 || c.MaxBytes <= 0 || c.Limit <= 0 || c.MaxPages <= 0 {
		faults = append(faults, errors.New("timeout, max-bytes, limit and max-pages must be positive"))
	}
	if len(faults) > 0 {
		return nil, fmt.Errorf("source %q: %w", name, errors.Join(faults...))
	}
	return &Source{name: name, config: c, clock: clock, client: fetch.New(c.Timeout, int64(c.MaxBytes))}, nil
}

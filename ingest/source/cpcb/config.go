// Package cpcb fetches the live feed of India's Central Pollution Control Board (CPCB). The feed has hourly data of
// some 500 stations and needs no key.
package cpcb

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
	// URL is the address of the feed.
	URL string `yaml:"url"`
	// Timeout bounds the time of a request, including its whole reply.
	Timeout time.Duration `yaml:"timeout"`
	// MaxBytes is the size of the largest accepted reply in bytes. The feed has about 400 KB.
	MaxBytes config.Size `yaml:"max-bytes"`
}

// DefaultConfig returns the configuration for the public feed.
func DefaultConfig() Config {
	return Config{URL: "https://airquality.cpcb.gov.in/caaqms/rss_feed", Timeout: 60 * time.Second, MaxBytes: 16 << 20}
}

// New builds the source. `name` becomes the field Source of its readings.
func (c Config) New(name string, clock func() time.Time) (ingest.Source, error) {
	u, err := url.Parse(c.URL)
	switch {
	case err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https"):
		return nil, fmt.Errorf("source %q: url is not an http or https address", name)
	case c.Timeout <= 0:
		return nil, errors.New("source \"" + name + "\": timeout must be positive")
	case c.MaxBytes <= 0:
		return nil, errors.New("source \"" + name + "\": max-bytes must be positive")
	}
	return &Source{name: name, url: c.URL, clock: clock, client: fetch.New(c.Timeout, int64(c.MaxBytes))}, nil
}

// Package connector creates an order.Connection from a file that describes an aggregator
// or operator with a JSON API. docs/operators.md describes the file.
//
// A reply is an outcome only if the file maps it to one, or has a default for its status.
// Everything else (another status, an HTML page, 5xx, a timeout) is an error. No error but
// httpconnector.ErrNotSent means that the order has failed.
package connector

import (
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/config/section"
	"vayu/pipeline/httpconnector"
	"vayu/pipeline/recharge/order"
	"vayu/schema"
)

// providerCodes is the section "recharge" of a description file.
type providerCodes struct {
	world     schema.World
	resend    time.Duration
	operators codeTable
	circles   codeTable
	types     codeTable
	serves    []string // canonical names of operators; nil for all
}

// provider calls an aggregator. It is safe for concurrent use.
type provider struct {
	providerCodes

	client *httpconnector.Client
}

// Open reads a file and returns the connection that it describes, without connecting. The error
// lists every fault of the file with its line. log and reg may be nil.
func Open(file string, log *slog.Logger, reg prometheus.Registerer) (order.Connection, error) {
	from, err := httpconnector.Open(file)
	if err != nil {
		return order.Connection{}, err
	}
	d, b, err := read(from)
	if err != nil {
		return order.Connection{}, err
	}
	client, err := httpconnector.New(d, httpconnector.Options{Log: log, Metrics: reg})
	if err != nil {
		return order.Connection{}, err
	}
	p := &provider{providerCodes: b, client: client}
	c := order.Connection{
		Name: d.Name, World: b.world, Operators: b.serves, Timeout: d.Timeout, ResendAfter: b.resend, Concurrency: d.Concurrency,
		Operator: p, Available: client.Available,
	}
	if d.HasCall(refund) {
		c.Reverser = p
	}
	if d.HasCall(detect) || d.HasCall(plans) {
		c.Directory = directory{p, d.HasCall(detect), d.HasCall(plans)}
	}
	if d.HasCallback() {
		c.Receiver = p
	}
	return c, nil
}

// Check returns every fault of a file with its line; nil if there is none.
func Check(file string) error {
	from, err := httpconnector.Open(file)
	if err == nil {
		_, _, err = read(from)
	}
	return err
}

func read(from httpconnector.Source) (*httpconnector.Description, providerCodes, error) {
	var b providerCodes
	d, err := httpconnector.Parse(from, shape(), func(root *section.Section, d *httpconnector.Description) {
		b = readProviderCodes(root.Section("recharge"), d)
	})
	return d, b, err
}

func readProviderCodes(s *section.Section, d *httpconnector.Description) providerCodes {
	b := providerCodes{
		world:     httpconnector.World(s),
		resend:    d.ResendAfter(s),
		operators: readCodes(s.Section("operators"), operatorNames()),
		circles:   readCodes(s.Section("circles"), circleNames()),
		types:     readCodes(s.Section("types"), []string{string(schema.Prepaid), string(schema.DTH)}),
	}
	if d.HasCall(detect) {
		b.operators.distinct(s.Section("operators"), mobileNames())
		b.circles.distinct(s.Section("circles"), circleNames())
	}
	b.readServes(s)
	return b
}

// readServes reads the served operators from the key "serves". Without this key, they are the
// operators with a code, or all operators if the file has no codes.
func (b *providerCodes) readServes(s *section.Section) {
	known := operatorNames()
	if b.operators.codes != nil {
		known = b.operators.names
		b.serves = b.operators.names
	}
	list := s.List("serves")
	if list == nil {
		return
	}
	b.serves = nil
	for _, e := range list {
		if !contains(known, e.Text) {
			s.Faultf("serves", "%q is none of those that it has codes for: %s", e.Text, join(known))
		}
		b.serves = append(b.serves, e.Text)
	}
}

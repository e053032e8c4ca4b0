// Package connector makes a recharge.Connection of a file: an aggregator, or an
// operator, that speaks JSON over HTTP. docs/operators.md describes the file.
//
// What it answers is an outcome only where the file maps it to one. Everything else
// (another word, no word, a page, 5xx, silence) is an error, after which nobody knows
// what became of the order; it is never a failure.
package connector

import (
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/pipeline/httpconnector"
	"vayu/pipeline/recharge"
	"vayu/schema"
)

// book is what a file says of recharges beside how calls are made.
type book struct {
	world     schema.World
	resend    time.Duration
	operators codebook
	circles   codebook
	types     codebook
	serves    []string // nil for all
}

// provider calls an aggregator. It can be used by many goroutines at once.
type provider struct {
	book

	client *httpconnector.Client
}

// Open reads a file and returns the connection that it describes. It connects to
// nothing yet. The error names every fault of the file with its line. Log and reg
// may be nil.
func Open(file string, log *slog.Logger, reg prometheus.Registerer) (recharge.Connection, error) {
	from, err := httpconnector.Open(file)
	if err != nil {
		return recharge.Connection{}, err
	}
	d, b, err := read(from)
	if err != nil {
		return recharge.Connection{}, err
	}
	client, err := httpconnector.New(d, httpconnector.Options{Log: log, Metrics: reg})
	if err != nil {
		return recharge.Connection{}, err
	}
	p := &provider{book: b, client: client}
	c := recharge.Connection{
		Name: d.Name, World: b.world, Operators: b.serves, Timeout: d.Timeout, ResendAfter: b.resend, Concurrency: d.Concurrency,
		Operator: p, Available: client.Available,
	}
	if d.Has(refund) {
		c.Reverser = p
	}
	if d.Has(detect) || d.Has(plans) {
		c.Directory = directory{p, d.Has(detect), d.Has(plans)}
	}
	if d.Tells() {
		c.Receiver = p
	}
	return c, nil
}

// Check says everything that is wrong with a file, each fault with its line; nil
// when nothing is.
func Check(file string) error {
	from, err := httpconnector.Open(file)
	if err == nil {
		_, _, err = read(from)
	}
	return err
}

func read(from httpconnector.Source) (*httpconnector.Description, book, error) {
	var b book
	d, err := httpconnector.Parse(from, shape(), func(root *httpconnector.Section, d *httpconnector.Description) {
		b = readBook(root.Section("recharge"), d)
	})
	return d, b, err
}

// readBook reads the section recharge.
func readBook(s *httpconnector.Section, d *httpconnector.Description) book {
	b := book{
		world:     s.World(),
		resend:    s.ResendAfter(d),
		operators: readCodes(s.Section("operators"), operatorNames()),
		circles:   readCodes(s.Section("circles"), circleNames()),
		types:     readCodes(s.Section("types"), []string{string(schema.Prepaid), string(schema.DTH)}),
	}
	if d.Has(detect) {
		b.operators.distinct(s.Section("operators"), mobileNames())
		b.circles.distinct(s.Section("circles"), circleNames())
	}
	b.readServes(s)
	return b
}

// readServes reads whose recharges go there: those of serves, or those that have a
// code, or all.
func (b *book) readServes(s *httpconnector.Section) {
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

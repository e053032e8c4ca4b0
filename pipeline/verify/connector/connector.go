// Package connector makes a verify.Connection of a file: a bank, or an aggregator of
// banks, that speaks JSON over HTTP. docs/banks.md describes the file.
//
// What it answers is an outcome only where the file maps it to one. Everything else
// (another word, no word, a page, 5xx, silence) is an error, after which nobody knows
// what became of the deposit; it is never a verdict.
package connector

import (
	"log/slog"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/pipeline/httpconnector"
	"vayu/pipeline/verify"
	"vayu/schema"
)

// book is what a file says of verifications beside how calls are made.
type book struct {
	world   schema.World
	resend  time.Duration
	methods []schema.VerificationMethod // nil for all
}

// bank calls a bank. It can be used by many goroutines at once.
type bank struct {
	client *httpconnector.Client
}

// Open reads a file and returns the connection that it describes. It connects to
// nothing yet. The error names every fault of the file with its line. Log and reg
// may be nil.
func Open(file string, log *slog.Logger, reg prometheus.Registerer) (verify.Connection, error) {
	from, err := httpconnector.Open(file)
	if err != nil {
		return verify.Connection{}, err
	}
	d, b, err := read(from)
	if err != nil {
		return verify.Connection{}, err
	}
	client, err := httpconnector.New(d, httpconnector.Options{Log: log, Metrics: reg})
	if err != nil {
		return verify.Connection{}, err
	}
	calls := &bank{client}
	c := verify.Connection{
		Name: d.Name, World: b.world, Methods: b.methods, Timeout: d.Timeout, ResendAfter: b.resend, Concurrency: d.Concurrency,
		Bank: calls, Available: client.Available,
	}
	if d.Tells() {
		c.Receiver = calls
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
		s := root.Section("verify")
		b = book{world: s.World(), resend: s.ResendAfter(d)}
		b.readMethods(s, root.Section("calls"), d)
	})
	return d, b, err
}

// needs are the calls without which a method cannot be served: a deposit that nobody
// can be asked about could be made twice.
var needs = map[schema.VerificationMethod][]string{
	schema.VerifyPennyDrop: {deposit, enquire},
	schema.VerifyUPI:       {resolve},
}

// both is every method.
var both = []schema.VerificationMethod{schema.VerifyPennyDrop, schema.VerifyUPI}

// readMethods reads what is verified there: the methods of the list, or those of which
// there is a call.
func (b *book) readMethods(s, calls *httpconnector.Section, d *httpconnector.Description) {
	for _, e := range s.List("methods") {
		m := schema.VerificationMethod(e.Text)
		switch {
		case needs[m] == nil:
			s.Faultf("methods", "must hold %s or %s", both[0], both[1])
		case slices.Contains(b.methods, m):
			s.Faultf("methods", "holds %s twice", m)
		default:
			b.methods = append(b.methods, m)
		}
	}
	if s.List("methods") == nil {
		for _, m := range both {
			if slices.ContainsFunc(needs[m], d.Has) {
				b.methods = append(b.methods, m)
			}
		}
		if b.methods == nil {
			calls.Faultf("", "holds no deposit with enquire, and no resolve")
		}
	}
	for _, m := range b.methods {
		for _, call := range needs[m] {
			if !d.Has(call) {
				calls.Faultf(call, "is missing, which %s needs", m)
			}
		}
	}
	if len(b.methods) == len(both) {
		b.methods = nil
	}
}

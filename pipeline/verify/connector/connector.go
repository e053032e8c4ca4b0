// Package connector builds a bank.Connection from a description file of a bank or an aggregator
// with JSON over HTTP. docs/banks.md describes the file.
//
// An answer is an outcome only if the file maps it to one. Anything else is an error, such as an
// unmapped value, an HTML page, 5xx or no answer. After these errors a deposit may have been made.
package connector

import (
	"log/slog"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/config/section"
	"vayu/pipeline/httpconnector"
	"vayu/pipeline/verify/bank"
	"vayu/schema"
)

// settings are the parts of a description that concern verifications only.
type settings struct {
	world   schema.World
	resend  time.Duration
	methods []schema.VerificationMethod // nil for all
}

// provider calls a bank. It is safe for concurrent use.
type provider struct {
	client *httpconnector.Client
}

// Open reads a description file and returns its connection, without connecting. The error
// lists every fault of the file with its line. log and reg may be nil.
func Open(file string, log *slog.Logger, reg prometheus.Registerer) (bank.Connection, error) {
	from, err := httpconnector.Open(file)
	if err != nil {
		return bank.Connection{}, err
	}
	d, b, err := read(from)
	if err != nil {
		return bank.Connection{}, err
	}
	client, err := httpconnector.New(d, httpconnector.Options{Log: log, Metrics: reg})
	if err != nil {
		return bank.Connection{}, err
	}
	calls := &provider{client}
	c := bank.Connection{
		Name: d.Name, World: b.world, Methods: b.methods, Timeout: d.Timeout, ResendAfter: b.resend, Concurrency: d.Concurrency,
		Bank: calls, Available: client.Available,
	}
	if d.HasCallback() {
		c.Receiver = calls
	}
	return c, nil
}

// Check returns every fault of a description file with its line, or nil.
func Check(file string) error {
	from, err := httpconnector.Open(file)
	if err == nil {
		_, _, err = read(from)
	}
	return err
}

func read(from httpconnector.Source) (*httpconnector.Description, settings, error) {
	var b settings
	d, err := httpconnector.Parse(from, shape(), func(root *section.Section, d *httpconnector.Description) {
		s := root.Section("verify")
		b = settings{world: httpconnector.World(s), resend: d.ResendAfter(s)}
		b.readMethods(s, root.Section("calls"), d)
	})
	return d, b, err
}

// requiredCalls are the calls that each method needs. An enquiry finds out whether a deposit was
// made. Without an enquiry, a deposit could be made twice.
var requiredCalls = map[schema.VerificationMethod][]string{
	schema.VerifyPennyDrop: {deposit, enquire},
	schema.VerifyUPI:       {resolve},
}

var allMethods = []schema.VerificationMethod{schema.VerifyPennyDrop, schema.VerifyUPI}

// readMethods reads the supported methods: the methods that the file lists, or else those of which
// the file describes a call.
func (b *settings) readMethods(s, calls *section.Section, d *httpconnector.Description) {
	for _, e := range s.List("methods") {
		m := schema.VerificationMethod(e.Text)
		switch {
		case requiredCalls[m] == nil:
			s.Faultf("methods", "must hold %s or %s", allMethods[0], allMethods[1])
		case slices.Contains(b.methods, m):
			s.Faultf("methods", "holds %s twice", m)
		default:
			b.methods = append(b.methods, m)
		}
	}
	if s.List("methods") == nil {
		for _, m := range allMethods {
			if slices.ContainsFunc(requiredCalls[m], d.HasCall) {
				b.methods = append(b.methods, m)
			}
		}
		if b.methods == nil {
			calls.Faultf("", "holds no deposit with enquire, and no resolve")
		}
	}
	for _, m := range b.methods {
		for _, call := range requiredCalls[m] {
			if !d.HasCall(call) {
				calls.Faultf(call, "is missing, which %s needs", m)
			}
		}
	}
	if len(b.methods) == len(allMethods) {
		b.methods = nil
	}
}

// Package connector creates an order.Connection from a file that describes an aggregator
// or operator with a JSON API. docs/operators.md describes the file.
//
// A reply is an outcome only if the file maps it to one, or has a default for its status.
// Everything else (another status, an HTML page, 5xx, a timeout) is an error. No error but
// httpconnector.ErrNotSent means that the order has failed.
package connector

import (
	"slices"
	"strings"

	"vayu/internal/config/section"
	"vayu/pipeline/httpconnector"
	"vayu/pipeline/recharge/numbering"
	"vayu/pipeline/recharge/order"
	"vayu/pipeline/transaction"
	"vayu/schema"
)

// providerCodes is the section "recharge" of a description file.
type providerCodes struct {
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
// lists every fault of the file with its line.
func Open(file string, o httpconnector.Options) (order.Connection, error) {
	p := &provider{}
	client, err := httpconnector.Open(file, shape(), p.read, o)
	if err != nil {
		return order.Connection{}, err
	}
	p.client = client
	c := order.Connection{
		Link: transaction.Link{
			Name: client.Name, World: client.World, Timeout: client.Timeout, ResendAfter: client.ResendAfter, Concurrency: client.Concurrency, Available: client.Available,
		},
		Operators: p.serves, Operator: p,
	}
	if client.HasCall(refund) {
		c.Reverser = p
	}
	if client.HasCall(detect) || client.HasCall(plans) {
		c.Directory = directory{p, client.HasCall(detect), client.HasCall(plans)}
	}
	if client.HasCallback() {
		c.Receiver = p
	}
	return c, nil
}

// read reads the section "recharge".
func (b *providerCodes) read(root *section.Section, d *httpconnector.Description) {
	s := root.Section("recharge")
	d.ReadPolicy(s)
	b.operators = readCodes(s.Section("operators"), operatorNames())
	b.circles = readCodes(s.Section("circles"), numbering.Circles())
	b.types = readCodes(s.Section("types"), []string{string(schema.Prepaid), string(schema.DTH)})
	if d.HasCall(detect) {
		b.operators.distinct(s.Section("operators"), mobileNames())
		b.circles.distinct(s.Section("circles"), numbering.Circles())
	}
	b.readServes(s)
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
		if !slices.Contains(known, e.Text) {
			s.Faultf("serves", "%q is none of those that it has codes for: %s", e.Text, strings.Join(known, ", "))
		}
		b.serves = append(b.serves, e.Text)
	}
}

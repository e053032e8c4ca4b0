// Package connector creates an order.Connection from a file that describes an aggregator or operator with a JSON API.
// docs/operators.md describes the file.
//
// A reply has an outcome only if the file maps the reply's status to one, or sets a default for unmapped statuses.
// Everything else (another status, an HTML page, 5xx, a timeout) is an error. After an error the order may still
// succeed. Only httpconnector.ErrNotSent means that the order has failed.
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

// readServes reads the served operators from the key "serves". Without this key, the connection
// serves the operators with a code, or all operators if the file has no codes.
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
			s.Faultf("serves", "%q is not an operator of the file; its operators are %s", e.Text, strings.Join(known, ", "))
		}
		b.serves = append(b.serves, e.Text)
	}
}

// codeTable maps our names of operators, circles or recharge types to an aggregator's codes.
type codeTable struct {
	names []string          // in the order of the file
	codes map[string]string // by name; nil if every name is its own code
}

// readCodes reads a mapping of names to codes. A name that is not in `known` is a fault of the file.
func readCodes(s *section.Section, known []string) codeTable {
	var c codeTable
	if !s.Present() {
		return c
	}
	c.codes = map[string]string{}
	for _, e := range s.Entries() {
		if !slices.Contains(known, e.Name) {
			s.Faultf(e.Name, "is not a valid name; known: %s", strings.Join(known, ", "))
		}
		if e.Text == "" {
			s.Faultf(e.Name, "must not be empty")
		}
		c.names = append(c.names, e.Name)
		c.codes[e.Name] = e.Text
	}
	return c
}

// distinct reports a fault if two of the given names have the same code.
func (c *codeTable) distinct(s *section.Section, names []string) {
	first := map[string]string{}
	for _, name := range c.names {
		if !slices.Contains(names, name) {
			continue
		}
		if other, there := first[c.codes[name]]; there {
			s.Faultf(name, "has the code of %s, so that an answer could mean both", other)
		}
		first[c.codes[name]] = name
	}
}

// code returns the provider's code for a name. If the file has no codes, every name is its own code.
func (c *codeTable) code(name string) (string, bool) {
	if c.codes == nil {
		return name, true
	}
	code, ok := c.codes[name]
	return code, ok
}

// name returns the name that has a code. It considers only the names in `among`, and returns false if none of them has
// the code.
func (c *codeTable) name(code string, among []string) (string, bool) {
	for _, name := range c.names {
		if c.codes[name] == code && slices.Contains(among, name) {
			return name, true
		}
	}
	return "", false
}

// circle returns the canonical name of a circle, or "" for an unknown circle. `theirs` is the provider's name or code
// of the circle.
func (b *providerCodes) circle(theirs string) string {
	if b.circles.codes != nil {
		name, _ := b.circles.name(theirs, b.circles.names)
		return name
	}
	name, _ := numbering.Circle(theirs)
	return name
}

// operator returns the canonical name of a mobile operator. It returns false for an unknown operator. `theirs` is the
// provider's name or code of the operator.
func (b *providerCodes) operator(theirs string) (string, bool) {
	if b.operators.codes != nil {
		return b.operators.name(theirs, mobileNames())
	}
	o, ok := numbering.Find(schema.Prepaid, theirs)
	return o.Name, ok
}

func operatorNames() []string {
	var names []string
	for _, o := range numbering.Operators() {
		names = append(names, o.Name)
	}
	return names
}

func mobileNames() []string {
	var names []string
	for _, o := range numbering.Operators() {
		if o.Type == schema.Prepaid {
			names = append(names, o.Name)
		}
	}
	return names
}

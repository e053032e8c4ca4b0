package connector

import (
	"slices"
	"strings"

	"vayu/pipeline/httpconnector"
	"vayu/pipeline/recharge/numbering"
	"vayu/schema"
)

// codebook is what an aggregator calls things that have a name here.
type codebook struct {
	names []string          // in the order of the file
	codes map[string]string // by name; nil for names that are codes
}

// readCodes reads a mapping of names to codes.
func readCodes(s *httpconnector.Section, known []string) codebook {
	var c codebook
	if !s.Given() {
		return c
	}
	c.codes = map[string]string{}
	for _, e := range s.Entries() {
		if !contains(known, e.Name) {
			s.Faultf(e.Name, "is no name here; known: %s", join(known))
		}
		if e.Text == "" {
			s.Faultf(e.Name, "must not be empty")
		}
		c.names = append(c.names, e.Name)
		c.codes[e.Name] = e.Text
	}
	return c
}

// distinct demands that each code stands for one of some names.
func (c *codebook) distinct(s *httpconnector.Section, names []string) {
	first := map[string]string{}
	for _, name := range c.names {
		if !contains(names, name) {
			continue
		}
		if other, there := first[c.codes[name]]; there {
			s.Faultf(name, "has the code of %s, so that an answer could mean both", other)
		}
		first[c.codes[name]] = name
	}
}

// code is what they call something; false when they have no name for it.
func (c *codebook) code(name string) (string, bool) {
	if c.codes == nil {
		return name, true
	}
	code, ok := c.codes[name]
	return code, ok
}

// name is which of some names a code stands for.
func (c *codebook) name(code string, among []string) (string, bool) {
	for _, name := range c.names {
		if c.codes[name] == code && contains(among, name) {
			return name, true
		}
	}
	return "", false
}

// circle is the canonical name of a circle as they write it; empty when nobody knows.
func (b *book) circle(theirs string) string {
	if b.circles.codes != nil {
		name, _ := b.circles.name(theirs, b.circles.names)
		return name
	}
	name, _ := numbering.Circle(theirs)
	return name
}

// operator is the canonical name of a mobile operator as they write it.
func (b *book) operator(theirs string) (string, bool) {
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

func circleNames() []string { return numbering.Circles() }

func contains(all []string, one string) bool { return slices.Contains(all, one) }

func join(all []string) string { return strings.Join(all, ", ") }

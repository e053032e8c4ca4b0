package apidoc

import (
	"html/template"
	"maps"
	"strings"
)

// field is a row of a table: a parameter, a header or a member of an object.
type field struct {
	Name      string
	In        string // place of a parameter, such as query or path
	Required  bool   // in a request
	Sometimes bool   // in a reply: may be absent
	Type      []typePart
	Default   string
	Example   string
	Text      template.HTML
}

// typePart is a part of a type's text. If it is the name of an object with its own table, Object is that name
// and the page links to the table.
type typePart struct{ Text, Object string }

func (p *pager) parameter(v *value) field {
	s := v.at("schema")
	return field{
		Name: v.at("name").text(), In: v.at("in").text(), Required: v.at("required").text() == "true", Type: p.typeOf(s),
		Default: s.at("default").text(), Example: v.at("example").text(), Text: p.inline(v.at("description").text()),
	}
}

// requestFields returns the members of an object in a request, and marks those that are required.
func (p *pager) requestFields(s *value) []field {
	all, required := p.fieldsOf(s)
	for i := range all {
		all[i].Required = required[all[i].Name]
	}
	return all
}

func (p *pager) replyFields(s *value) []field {
	all, required := p.fieldsOf(s)
	for i := range all {
		all[i].Sometimes = !required[all[i].Name]
	}
	return all
}

// fieldsOf returns the members of an object and the names of the required ones, including those of
// its allOf parts.
func (p *pager) fieldsOf(s *value) ([]field, map[string]bool) {
	s, _ = s.reference(p.root)
	var out []field
	required := map[string]bool{}
	for _, part := range s.at("allOf").list() {
		members, needed := p.fieldsOf(part)
		out = append(out, members...)
		maps.Copy(required, needed)
	}
	for _, name := range s.at("required").list() {
		required[name.text()] = true
	}
	for _, m := range s.at("properties").fields() {
		text := m.value.at("description").text()
		if target, _ := m.value.reference(p.root); text == "" && !p.hasTable(m.value) {
			text = target.at("description").text()
		}
		typed := p.cases(s, m.name)
		if typed == nil {
			typed = p.typeOf(m.value)
		}
		out = append(out, field{Name: m.name, Type: typed, Default: m.value.at("default").text(), Text: p.inline(text)})
	}
	return out, required
}

// cases returns the types that a member can have, if the type depends on the value of another member; otherwise
// nil.
func (p *pager) cases(s *value, member string) []typePart {
	var out []typePart
	for _, part := range s.at("allOf").list() {
		if then := part.at("then", "properties", member); then != nil {
			if out != nil {
				out = append(out, typePart{"|", ""})
			}
			out = append(out, p.typeOf(then)...)
		}
	}
	return out
}

// hasTable reports whether a schema refers to an object with its own table.
func (p *pager) hasTable(s *value) bool {
	target, name := s.reference(p.root)
	return name != "" && (target.at("properties") != nil || target.at("allOf") != nil)
}

// typeOf returns the text about the type of a schema, such as "array of" and the name of an object.
func (p *pager) typeOf(s *value) []typePart {
	target, name := s.reference(p.root)
	if p.hasTable(s) {
		return []typePart{{name, name}}
	}
	s = target
	if c := s.at("const"); c != nil {
		return []typePart{{string(c.raw), ""}}
	}
	if enum := s.at("enum").list(); enum != nil {
		return []typePart{{p.join(enum, func(v *value) string { return string(v.raw) }, " | "), ""}}
	}
	for _, name := range [...]string{"anyOf", "oneOf"} {
		if choices := s.at(name).list(); choices != nil {
			return p.choice(choices)
		}
	}
	if all := s.at("allOf").list(); len(all) == 1 {
		return p.typeOf(all[0])
	}
	kinds := s.at("type")
	names := kinds.text()
	if kinds != nil && kinds.kind == list {
		names = p.join(kinds.items, (*value).text, " or ")
	}
	if items := s.at("items"); items != nil {
		return append([]typePart{{strings.Replace(names, "array", "array of", 1), ""}}, p.typeOf(items)...)
	}
	return []typePart{{names + bounds(s), ""}}
}

func (p *pager) choice(choices []*value) []typePart {
	var out []typePart
	for i, choice := range choices {
		if i > 0 {
			out = append(out, typePart{"or", ""})
		}
		out = append(out, p.typeOf(choice)...)
	}
	return out
}

func (*pager) join(all []*value, text func(*value) string, between string) string {
	parts := make([]string, len(all))
	for i, v := range all {
		parts[i] = text(v)
	}
	return strings.Join(parts, between)
}

// bounds returns the text about the limits of a number or a string, such as ", 1 to 100".
func bounds(s *value) string {
	var out string
	from, to := s.at("minimum").text(), s.at("maximum").text()
	if above := s.at("exclusiveMinimum").text(); above != "" {
		from = "above " + above
	}
	switch {
	case from != "" && to != "":
		out = ", " + from + " to " + to
	case from != "":
		out = ", from " + from
	}
	if most := s.at("maxLength").text(); most != "" {
		out += ", at most " + most + " characters"
	}
	if format := s.at("format").text(); format != "" {
		out += ", " + format
	}
	return out
}

// codes returns the error codes that a reply may contain.
func (*pager) codes(described *value) []string {
	code := described.at("content", "application/json", "schema", "properties", "error", "properties", "code")
	var out []string
	for _, c := range code.at("enum").list() {
		out = append(out, c.text())
	}
	if c := code.at("const").text(); c != "" {
		out = append(out, c)
	}
	return out
}

// statuses returns all error statuses with their codes.
func (p *pager) statuses() []statusRow {
	var out []statusRow
	for _, r := range p.root.at("components", "responses").fields() {
		if codes := p.codes(r.value); codes != nil {
			out = append(out, statusRow{response{Status: r.name, Text: p.inline(r.value.at("description").text()), Codes: codes}, "status-" + r.name})
		}
	}
	return out
}

func (p *pager) requestHeaders() []field {
	var out []field
	for _, m := range p.root.at("components", "parameters").fields() {
		if m.value.at("x-common") != nil {
			out = append(out, p.parameter(m.value))
		}
	}
	return out
}

func (p *pager) replyHeaders() []field {
	var out []field
	for _, m := range p.root.at("components", "headers").fields() {
		out = append(out, field{Name: m.name, Text: p.inline(m.value.at("description").text())})
	}
	return out
}

// objects returns the objects that get a table of their own. Parts of other objects and the data of events get
// none.
func (p *pager) objects() []objectView {
	events := map[string]bool{}
	for _, w := range p.root.at("webhooks").fields() {
		_, name := w.value.at("post", "requestBody", "content", "application/json", "schema", "properties", "data").reference(p.root)
		events[name] = true
	}
	var out []objectView
	for _, m := range p.root.at("components", "schemas").fields() {
		if strings.HasSuffix(m.name, "Fields") || events[m.name] || m.value.at("properties") == nil && m.value.at("allOf") == nil {
			continue
		}
		out = append(out, objectView{Name: m.name, Text: p.inline(m.value.at("description").text()), Fields: p.replyFields(m.value)})
	}
	return out
}

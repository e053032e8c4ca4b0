package apidoc

import (
	"html/template"
	"strings"
)

// receiving describes the webhooks of the contract to their receiver. All have the same headers and
// replies.
type receiving struct {
	Headers  []field
	Envelope string // the object that is the body
	Answers  []response
	Messages []message
}

// message is an event of one type.
type message struct {
	ID, Name, Summary string
	Object            string // the name of its data
	Text              template.HTML
	Data              []field
	Example           string // of a body
}

// receiving returns the webhooks of a tag; nil for none.
func (p *pager) receiving(tag string) *receiving {
	var out *receiving
	for _, w := range p.root.at("webhooks").fields() {
		op := w.value.at("post")
		if !tagged(op, tag) {
			continue
		}
		body := op.at("requestBody", "content").fields()[0]
		if out == nil {
			_, envelope := body.value.at("schema", "allOf").list()[0].reference(p.root)
			out = &receiving{Headers: p.messageHeaders(op, body.name), Envelope: envelope}
			for _, r := range op.at("responses").fields() {
				status := strings.ToLower(r.name)
				if status == "default" {
					status = "else"
				}
				out.Answers = append(out.Answers, response{Status: status, Text: p.inline(r.value.at("description").text())})
			}
		}
		out.Messages = append(out.Messages, p.message(w.name, op, body.value))
	}
	return out
}

// messageHeaders returns the described headers and Content-Type, which OpenAPI keeps with the body.
func (p *pager) messageHeaders(op *value, typed string) []field {
	var out []field
	for _, param := range op.at("parameters").list() {
		param, _ = param.reference(p.root)
		f := p.parameter(param)
		f.Sometimes, f.Required, f.In = !f.Required, false, ""
		out = append(out, f)
	}
	return append(out, field{Name: "Content-Type", Type: []typePart{{typed, ""}}, Text: "The body is JSON in UTF-8."})
}

func (p *pager) message(name string, op, media *value) message {
	data, object := media.at("schema", "properties", "data").reference(p.root)
	m := message{
		ID: op.at("operationId").text(), Name: name, Summary: op.at("summary").text(),
		Object: object, Text: p.inline(data.at("description").text()), Data: p.replyFields(data),
	}
	for _, x := range media.at("examples").fields() {
		m.Example = indent(x.value.at("value"))
	}
	return m
}

// tagged reports whether the first tag of an operation is tag.
func tagged(op *value, tag string) bool {
	tags := op.at("tags").list()
	return len(tags) > 0 && tags[0].text() == tag
}

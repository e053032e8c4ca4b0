package apidoc

import (
	"html/template"
	"strings"
)

// receiving is the part of the page about receiving webhooks. All webhooks of a tag have the same headers and
// replies.
type receiving struct {
	Headers  []field
	Envelope string // name of the object that is the body
	Answers  []response
	Messages []message
}

// message describes the webhook of one event type.
type message struct {
	ID, Name, Summary string
	Object            string // name of the object in the member data
	Text              template.HTML
	Data              []field
	Example           string // of a body
}

// receiving returns the description of the webhooks of a tag; nil if the tag has none.
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

// messageHeaders returns the headers of a webhook. It adds Content-Type, which OpenAPI describes with the body
// instead.
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

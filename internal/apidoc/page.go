package apidoc

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // page.html and page.css
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
)

//go:embed page.html
var pageHTML string

//go:embed page.css
var pageCSS string

// page is the data with which the template page.html is executed.
type page struct {
	Title, Summary, Version string
	Style                   template.CSS
	Sections                []section // general conventions of the API
	Tags                    []tag
	Statuses                []statusRow
	RequestHeaders          []field // that every operation takes
	ReplyHeaders            []field
	Objects                 []objectView
}

type section struct {
	ID, Title string
	Text      template.HTML
}

type tag struct {
	section
	Operations []operation
	Receiving  *receiving // nil if the tag has no webhooks
}

type operation struct {
	ID, Method, Path, Summary string
	Text                      template.HTML
	Scope                     string
	Open                      bool // needs no key
	Parameters                []field
	Body                      []field
	BodyOptional              bool
	Reply                     []field // members of the reply, if its object has no table of its own
	Kinds                     []kindOf
	Examples                  []example
	Responses                 []response
}

// kindOf is one of the objects that can be the body of a reply. Fields is set if there is only one.
type kindOf struct {
	Name   string
	Text   template.HTML
	Fields []field
}

// example is a request, its reply, or both.
type example struct{ Title, Request, Reply string }

type response struct {
	Status string
	Text   template.HTML
	Codes  []string
}

type statusRow struct {
	response
	ID string
}

type objectView struct {
	Name   string
	Text   template.HTML
	Fields []field
}

// pager builds the page /docs from the contract (the OpenAPI description of the API).
type pager struct {
	root *value
	md   goldmark.Markdown
	err  error // first error of Markdown
}

// render returns the page /docs and its Content-Security-Policy. The policy allows only the page's own style
// sheet.
func render(root *value) (html []byte, policy string, err error) {
	p := &pager{root: root, md: goldmark.New(goldmark.WithExtensions(extension.Table))}
	view := page{
		Title: root.at("info", "title").text(), Summary: root.at("info", "summary").text(), Version: root.at("info", "version").text(),
		Style: template.CSS(pageCSS), Sections: p.sections(), Tags: p.tags(), //nolint:gosec // our own file
		Statuses: p.statuses(), RequestHeaders: p.requestHeaders(), ReplyHeaders: p.replyHeaders(), Objects: p.objects(),
	}
	if p.err != nil {
		return nil, "", fmt.Errorf("making the page of the contract: %w", p.err)
	}
	t, err := template.New("docs").Parse(pageHTML)
	if err != nil {
		return nil, "", fmt.Errorf("reading the template of the contract's page: %w", err)
	}
	var out bytes.Buffer
	if err := t.Execute(&out, view); err != nil {
		return nil, "", fmt.Errorf("making the page of the contract: %w", err)
	}
	sum := sha256.Sum256([]byte(pageCSS))
	policy = "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	return out.Bytes(), policy, nil
}

// markdown converts a description from Markdown to HTML. It drops raw HTML.
func (p *pager) markdown(text string) template.HTML {
	var out bytes.Buffer
	if err := p.md.Convert([]byte(text), &out); err != nil && p.err == nil {
		p.err = err
	}
	html := strings.NewReplacer("<table>", `<div class="wide" tabindex="0"><table>`, "</table>", "</table></div>",
		"<pre>", `<pre tabindex="0">`).Replace(out.String())
	return template.HTML(html) //nolint:gosec // from our own file, by a converter that escapes
}

// inline converts one sentence from Markdown to HTML, without a paragraph around it.
func (p *pager) inline(text string) template.HTML {
	html := strings.TrimSpace(string(p.markdown(text)))
	return template.HTML(strings.TrimSuffix(strings.TrimPrefix(html, "<p>"), "</p>")) //nolint:gosec // as in markdown
}

// slug converts a heading to the anchor that links refer to.
func slug(text string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		default:
			return '-'
		}
	}, text), "-")
}

// sections splits the description of the API at its headings.
func (p *pager) sections() []section {
	parts := strings.Split("\n"+p.root.at("info", "description").text(), "\n## ")
	var out []section
	for i, part := range parts {
		title, text, _ := strings.Cut(part, "\n")
		if i == 0 {
			out = append(out, section{ID: "top", Text: p.markdown(part)})
			continue
		}
		out = append(out, section{ID: slug(title), Title: title, Text: p.markdown(text)})
	}
	return out
}

func (p *pager) tags() []tag {
	var out []tag
	for _, t := range p.root.at("tags").list() {
		name := t.at("name").text()
		one := tag{section: section{ID: "to-" + slug(name), Title: name, Text: p.markdown(t.at("description").text())}, Receiving: p.receiving(name)}
		for _, path := range p.root.at("paths").fields() {
			for _, m := range path.value.fields() {
				if tagged(m.value, name) {
					one.Operations = append(one.Operations, p.operation(path.name, m.name, path.value, m.value))
				}
			}
		}
		out = append(out, one)
	}
	return out
}

func (p *pager) operation(path, method string, item, op *value) operation {
	o := operation{
		ID: op.at("operationId").text(), Method: strings.ToUpper(method), Path: path, Summary: op.at("summary").text(),
		Text: p.markdown(op.at("description").text()), Scope: op.at("x-scope").text(), Open: op.at("x-scope") == nil,
	}
	for _, param := range append(item.at("parameters").list(), op.at("parameters").list()...) {
		if param, _ = param.reference(p.root); param.at("x-common") == nil {
			o.Parameters = append(o.Parameters, p.parameter(param))
		}
	}
	if body := op.at("requestBody"); body != nil {
		o.Body = p.requestFields(body.at("content", "application/json", "schema"))
		o.BodyOptional = body.at("required").text() != "true"
	}
	var examples []member
	for _, r := range op.at("responses").fields() {
		described, _ := r.value.reference(p.root)
		for _, media := range described.at("content").fields() {
			examples = append(examples, media.value.at("examples").fields()...)
		}
		o.Responses = append(o.Responses, response{Status: r.name, Text: p.inline(described.at("description").text()), Codes: p.codes(described)})
		if o.Reply == nil && o.Kinds == nil && r.name < "300" {
			p.reply(&o, described)
		}
	}
	o.Examples = examplesOf(op.at("x-codeSamples").list(), examples)
	return o
}

// reply adds the fields or objects of the reply to a successful call.
func (p *pager) reply(o *operation, described *value) {
	for _, media := range described.at("content").fields() {
		s := media.value.at("schema")
		kinds := s.at("oneOf").list()
		if s.at("$ref") != nil {
			kinds = []*value{s}
		}
		for _, k := range kinds {
			target, name := k.reference(p.root)
			o.Kinds = append(o.Kinds, kindOf{Name: name, Text: p.inline(target.at("description").text())})
			if len(kinds) == 1 {
				o.Kinds[0].Fields = p.replyFields(target)
			}
		}
		if kinds == nil && media.name == "application/json" {
			o.Reply = p.replyFields(s)
		}
	}
}

// examplesOf pairs example requests with the replies of the same title. It appends replies without a request.
func examplesOf(samples []*value, replies []member) []example {
	var out []example
	paired := map[*value]bool{}
	for _, sample := range samples {
		e := example{Title: sample.at("label").text(), Request: sample.at("source").text()}
		for _, x := range replies {
			if x.value.at("summary").text() == e.Title {
				e.Reply, paired[x.value] = indent(x.value.at("value")), true
			}
		}
		out = append(out, e)
	}
	for _, x := range replies {
		if !paired[x.value] {
			out = append(out, example{Title: x.value.at("summary").text(), Reply: indent(x.value.at("value"))})
		}
	}
	return out
}

func indent(v *value) string {
	if v.kind == scalar {
		return v.text()
	}
	var out bytes.Buffer
	_ = json.Indent(&out, v.json(nil), "", "  ") // the output of json is valid JSON
	return out.String()
}

// Package translation translates answers about the air into the language that a client prefers.
package translation

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"time"

	"vayu/internal/httpapi"
	"vayu/schema/advice"
	"vayu/schema/naqi"
)

// translation has the fields category_name and health of all categories in English and in another language.
type translation struct {
	english, other [][]byte
	header         map[string][]string
}

// load makes the translations on the first call.
var load = sync.OnceValue(func() map[advice.Language]*translation {
	fields := func(name, statement string) []byte {
		value, err := json.Marshal(struct {
			Name      string `json:"category_name"`
			Statement string `json:"health"`
		}{name, statement})
		if err != nil {
			panic("query/translation: a health statement is not valid: " + err.Error())
		}
		return value[1 : len(value)-1]
	}
	all := map[advice.Language]*translation{}
	for _, language := range advice.Languages {
		t := &translation{header: map[string][]string{"Content-Language": {string(language)}, "Vary": {"Accept-Language"}}}
		for _, category := range naqi.Categories() {
			text, _ := advice.Of(category, language)
			t.english, t.other = append(t.english, fields(category, naqi.Health(category))), append(t.other, fields(text.Name, text.Statement))
		}
		all[language] = t
	}
	return all
})

// Detail returns an answer with view=detail in the language that the client prefers. It replaces the fields
// category_name and health in the JSON text. The field category stays in English, because clients compare its
// values. The name of a station cannot look like a field, because JSON escapes quotes inside a string.
func Detail(r *http.Request, resp httpapi.Response) httpapi.Response {
	language := advice.English
	if accept := r.Header.Values("Accept-Language"); len(accept) > 0 {
		language = advice.Nearest(strings.Join(accept, ","))
	}
	t := load()[language]
	if language != advice.English {
		body := resp.Body
		for i, english := range t.english {
			body = bytes.ReplaceAll(body, english, t.other[i])
		}
		made := httpapi.Ready(body, time.Time{}) // without Last-Modified, which is the same for all languages
		made.Measured, made.DataAge, made.Stale, made.Cache = resp.Measured, resp.DataAge, resp.Stale, resp.Cache
		resp = made
	}
	resp.Header = t.header
	return resp
}

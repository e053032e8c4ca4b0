// Package advice has advice on health for each category of the National Air Quality Index, in ten languages.
//
// The statements are those of CPCB's table of health statements. The other advice is Vayu's summary of the sources that
// advice.json lists. Vayu has translated all texts from English. The file advice.json has the English and Hindi texts.
// For each other language, a file in the folder "translated" maps each English text to its translation.
package advice

import (
	"embed"
	"encoding/json"
	"slices"
	"sync"
)

// Source is a document on which the advice is based.
type Source struct {
	ID        string `json:"id"`
	Publisher string `json:"publisher"`
	Title     string `json:"title"`
	Year      int    `json:"year"`
}

// Advice is the advice for a category in one language. Statement is CPCB's statement of the likely health impacts.
// General is the advice for everyone. StatementSources and AdviceSources have the ids of sources.
type Advice struct {
	Category         string   `json:"category"`
	Name             string   `json:"name"` // name of the category in the language
	Statement        string   `json:"statement"`
	StatementSources []string `json:"statement_sources"`
	General          string   `json:"general"`
	Groups           []Group  `json:"groups"`
	AdviceSources    []string `json:"advice_sources"`
}

// Group is the advice for a group of people.
type Group struct {
	Group string `json:"group"` // such as outdoor_workers
	Name  string `json:"name"`
	Text  string `json:"text"`
}

// texts has the versions of one text in all languages.
type texts map[Language]string

//go:embed advice.json translated/*.json
var files embed.FS

type catalogue struct {
	Sources []Source `json:"sources"`
	Groups  []struct {
		Group string `json:"group"`
		Name  texts  `json:"name"`
	} `json:"groups"`
	Advice []struct {
		Category  string           `json:"category"`
		Name      texts            `json:"name"`
		Statement texts            `json:"statement"`
		General   texts            `json:"general"`
		Groups    map[string]texts `json:"groups"`
	} `json:"advice"`
}

// load parses the files on the first call. It panics if a file is invalid, which a test rules out.
var load = sync.OnceValue(func() (b catalogue) {
	parse("advice.json", &b)
	for _, language := range Languages[2:] {
		var from map[string]string // translation by English text
		parse("translated/"+string(language)+".json", &from)
		b.each(func(t texts) { t[language] = from[t[English]] })
	}
	return b
})

func parse(name string, into any) {
	text, err := files.ReadFile(name)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		panic("schema/advice: " + name + ": " + err.Error())
	}
}

// each calls `f` once for each text of the catalogue, with the versions of the text in all languages.
func (b *catalogue) each(f func(texts)) {
	for _, g := range b.Groups {
		f(g.Name)
	}
	for _, a := range b.Advice {
		f(a.Name)
		f(a.Statement)
		f(a.General)
		for _, t := range a.Groups {
			f(t)
		}
	}
}

// Sources returns the documents on which the advice is based.
func Sources() []Source { return slices.Clone(load().Sources) }

// Groups returns the names of the groups of people, in the documented order.
func Groups() (all []string) {
	for _, g := range load().Groups {
		all = append(all, g.Group)
	}
	return all
}

// Of returns the advice for a category in a language. It returns false if there is no such category or language.
func Of(category string, language Language) (Advice, bool) {
	if !language.Known() {
		return Advice{}, false
	}
	b := load()
	for i := range b.Advice {
		from := &b.Advice[i]
		if from.Category != category {
			continue
		}
		a := Advice{
			Category: category, Name: from.Name[language], Statement: from.Statement[language], StatementSources: []string{"cpcb"},
			General: from.General[language], AdviceSources: []string{"mohfw", "epa"},
		}
		for _, g := range b.Groups {
			a.Groups = append(a.Groups, Group{Group: g.Group, Name: g.Name[language], Text: from.Groups[g.Group][language]})
		}
		return a, true
	}
	return Advice{}, false
}

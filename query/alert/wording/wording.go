// Package wording has the words of the messages of alerts and of the titles of feeds, in the languages of advice.
package wording

import (
	_ "embed"
	"encoding/json"
	"sync"

	"vayu/schema/advice"
	"vayu/schema/air"
	"vayu/schema/gazetteer"
)

// Phrases has the parts of messages in one language. Parts that contain % are formats for fmt.
type Phrases struct {
	Is, Unknown, Over, Under, Changed, Age, Forecast, Band string
	Reasons                                                map[air.AlertReason]string
	Air                                                    string // the subject of an alert in CAP
	AirOf                                                  string `json:"air_of"` // the title of the feed of a place
	Alerts                                                 string // the title of the feed of alerts
}

//go:embed texts.json
var texts []byte

// load parses the texts on the first call. It panics if they are not valid. A test ensures that they are.
var load = sync.OnceValue(func() (all map[advice.Language]Phrases) {
	if err := json.Unmarshal(texts, &all); err != nil {
		panic("query/alert/wording: texts.json: " + err.Error())
	}
	return all
})

// Of returns the parts of messages in a language. For a language without advice, they are in English.
func Of(language advice.Language) Phrases {
	if p, ok := load()[language]; ok {
		return p
	}
	return load()[advice.English]
}

// Place returns the name of a place in a language: the Hindi name of a city in Hindi, and any other name as it is.
func Place(name string, language advice.Language) string {
	if language == advice.Hindi {
		return gazetteer.HindiName(name)
	}
	return name
}

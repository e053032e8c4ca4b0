// Package wording has the words of the messages of alerts, in English and in Hindi.
package wording

import (
	"vayu/schema/advice"
	"vayu/schema/air"
)

// Phrases has the parts of messages in one language. Those with % are formats.
type Phrases struct {
	Is, Unknown, Over, Under, Changed, Age, Forecast, Band string
	Reasons                                                map[air.AlertReason]string
}

// Known reports whether there are messages in a language.
func Known(language advice.Language) bool {
	return language == advice.English || language == advice.Hindi
}

// Of returns the parts of messages in a language.
func Of(language advice.Language) Phrases {
	if language == advice.Hindi {
		return Phrases{
			Is: "%[1]s: %[2]s %[3]s है", Unknown: "%s: अभी कोई आँकड़ा नहीं", Over: ", सीमा %s से ऊपर", Under: ", सीमा %s से नीचे", Changed: ", पहले %s",
			Age: "आख़िरी माप की आयु (सेकंड)", Forecast: "“%s” या उससे ख़राब होने की संभावना", Band: "GRAP का दायरा (AQI के अनुसार)",
			Reasons: map[air.AlertReason]string{
				air.AlertRecovered: "। चेतावनी समाप्त: शर्त अब पूरी नहीं होती।", air.AlertCorrected: "। चेतावनी समाप्त: आँकड़े सुधारे गए।",
				air.AlertEdited: "। चेतावनी समाप्त: अलर्ट बदला गया।", air.AlertPaused: "। चेतावनी समाप्त: अलर्ट रोका गया।",
				air.AlertRemoved: "। चेतावनी समाप्त: अलर्ट हटाया गया।", air.AlertTest: "। यह एक परीक्षण है।", air.AlertCrossed: "।",
			},
		}
	}
	return Phrases{
		Is: "%[1]s: %[2]s is %[3]s", Unknown: "%s: no figures", Over: ", over the limit of %s", Under: ", under the limit of %s", Changed: ", before it was %s",
		Age: "the age of the last reading in seconds", Forecast: "the probability of %s or worse", Band: "the GRAP band by AQI",
		Reasons: map[air.AlertReason]string{
			air.AlertRecovered: ". Resolved: the condition is not met any more.", air.AlertCorrected: ". Resolved: the figures were corrected.",
			air.AlertEdited: ". Resolved: the alert was changed.", air.AlertPaused: ". Resolved: the alert was paused.",
			air.AlertRemoved: ". Resolved: the alert was deleted.", air.AlertTest: ". This is a test.", air.AlertCrossed: ".",
		},
	}
}

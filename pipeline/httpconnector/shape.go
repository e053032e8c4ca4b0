package httpconnector

import (
	"maps"
	"slices"
)

// Shape is the caller's definition of a description: its calls, their fields and the fields of
// answers.
type Shape struct {
	Calls map[string]CallShape
	// Callback is the content of callbacks; nil if there are none.
	Callback AnswerShape
}

// CallShape defines one call.
type CallShape struct {
	Required bool     // every description must have it
	Fields   []string // usable in templates
	// Identifiers are the fields that identify the subject, such as an order. Each request holds
	// at least one that is not empty. Nil if a call has no subject.
	Identifiers []string
	Answer      AnswerShape
	List        bool // the answer is a list of items, and Answer has the fields of an item
	// Separate gives the call a separate lane, with slots and a breaker. It is for calls of low
	// priority, which then cannot block the others.
	Separate bool
}

// AnswerShape is the fields of an answer, by name.
type AnswerShape map[string]FieldShape

// FieldShape defines a field of an answer.
type FieldShape struct {
	// Required makes an answer without the field unreadable.
	Required bool
	// PathRequired makes the description name the path, though answers may lack the field.
	PathRequired bool
	// Values are the values that the description maps the provider's to; nil for any text.
	Values []string
	// Defaults are the elements of Values that an unmapped value may become by default.
	Defaults []string
	// RequiredWith maps names of other fields to values. An answer in which one of these fields
	// has its value must have this field.
	RequiredWith map[string]string
	// Absent are the elements of Values that the description may assign to answers without the
	// field. If it does, the path is optional.
	Absent []string
	// Repeated allows a list of values instead of a single one. The values are in [Reply.Lists].
	Repeated bool
	// Fallback replaces every unmapped value of a Repeated field.
	Fallback string
}

func namesOf[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }

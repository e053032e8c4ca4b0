package answer

// Shape is the fields of an answer, by name.
type Shape map[string]FieldShape

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

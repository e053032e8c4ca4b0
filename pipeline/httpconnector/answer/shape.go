package answer

// Shape defines the fields that an answer can have, by name.
type Shape map[string]FieldShape

// FieldShape defines one field of an answer.
type FieldShape struct {
	// Required means that an answer without the field is an error.
	Required bool
	// PathRequired means that the description must have the path, though answers may lack the
	// field.
	PathRequired bool
	// Values are our values, to which the provider's values are mapped; nil for any text.
	Values []string
	// Defaults are the elements of Values that the description may choose for unmapped values.
	Defaults []string
	// RequiredWith maps names of other fields to values. If one of those fields has its value in an
	// answer, the answer must have this field.
	RequiredWith map[string]string
	// Absent are the elements of Values that the description may choose for answers without the
	// field. If it chooses one, it may omit the path.
	Absent []string
	// Repeated allows a list of values as well as a single value. [Reply.Lists] has the values.
	Repeated bool
	// Fallback replaces each unmapped value of a Repeated field, unless the description sets a
	// default.
	Fallback string
}

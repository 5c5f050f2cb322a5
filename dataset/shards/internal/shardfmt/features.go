package shardfmt

import (
	"encoding/json"
	"fmt"

	"github.com/penstock-go/penstock/internal/budget"
)

// Classes finds the names of classes, by column, in the features that Hugging Face's datasets writes into its files, as JSON. b is the
// budget of the file.
func Classes(features string, b *budget.Budget) (map[string][]string, error) {
	var metadata struct {
		Info struct {
			Features map[string]any `json:"features"`
		} `json:"info"`
	}
	if len(features) == 0 || json.Unmarshal([]byte(features), &metadata) != nil {
		return nil, nil // another program's key
	}
	found := map[string][]string{}
	for name, feature := range metadata.Info.Features {
		if err := findClasses(found, name, feature, b); err != nil {
			return nil, fmt.Errorf("features: %w", err)
		}
	}
	return found, nil
}

// findClasses reads one feature: a ClassLabel, a list, or a structure of features.
func findClasses(found map[string][]string, path string, feature any, b *budget.Budget) error {
	fields, ok := feature.(map[string]any)
	if !ok {
		return nil
	}
	if err := b.Enter(); err != nil {
		return err
	}
	defer b.Leave()
	switch kind, _ := fields["_type"].(string); kind {
	case "ClassLabel":
		list, _ := fields["names"].([]any)
		names := make([]string, 0, len(list))
		for _, name := range list {
			text, ok := name.(string)
			if !ok {
				return nil
			}
			names = append(names, text)
		}
		found[path] = names
	case "":
		for name, feature := range fields {
			if err := b.Memory(int64(len(path) + len(name) + 1)); err != nil {
				return err
			}
			if err := findClasses(found, path+"."+name, feature, b); err != nil {
				return err
			}
		}
	default:
		return findClasses(found, path, fields["feature"], b)
	}
	return nil
}

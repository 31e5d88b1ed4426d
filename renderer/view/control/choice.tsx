interface ChoiceProps<T extends string> {
  label: string;
  value: T;
  options: readonly (readonly [T, string])[];
  onChange: (value: T) => void;
}

/** One of a few, side by side. */
export function Choice<T extends string>({ label, value, options, onChange }: ChoiceProps<T>) {
  return (
    <div className="choice" role="radiogroup" aria-label={label}>
      {options.map(([key, words]) => (
        <label key={key} className={key === value ? "on" : ""}>
          <input type="radio" className="unseen" name={label} checked={key === value} onChange={() => onChange(key)} />
          {words}
        </label>
      ))}
    </div>
  );
}

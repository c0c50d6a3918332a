"""One class, several names: forms of a problem that differ in the type of a field, as ‖w‖ ≤ B and (λ/2)‖w‖² differ.

A class that derives from `Formed` is written once, and registered once a form, under the form's own name:

    @problem
    @dataclass(frozen=True, eq=False)
    class Fit(Formed):
        forms: ClassVar[Forms] = {
            "ball": {"name": "fit", "title": "a fit, ‖w‖ ≤ B", "parameters": ("radius",)},
            "penalty": {"name": "fit-penalised", "title": "a fit, ‖w‖² penalised", "parameters": ("regularization",)},
        }

`Fit(…)` makes an instance of the form that its fields determine (`taken`), a class of its own with that name, title and so on:
`type(Fit(…)) is Fit.form("ball")`. A solver of `Fit` solves every form, one of `Fit.form("ball")` this one.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import fields
from functools import wraps
from typing import Any, ClassVar, Self, cast

from simopt.model.problem import Problem

Forms = Mapping[str, Mapping[str, Any]]  # key of a form: the class attributes in which it differs


class Formed(Problem):
    """A problem with several forms. `forms` are literals, so that listings need not import them."""

    forms: ClassVar[Forms]
    key: ClassVar[str]  # of the form that a class is

    @abstractmethod
    def taken(self) -> str:
        """The key of the form that the fields determine."""

    @classmethod
    def form(cls, key: str) -> type[Self]:
        """The class of one form."""
        return cast(type[Self], getattr(cls, key))

    @classmethod
    def each_form(cls) -> tuple[type[Self], ...]:
        """The class itself if it is one form, else those of all forms."""
        return tuple(map(cls.form, cls.forms)) if "forms" in vars(cls) else (cls,)

    @classmethod
    def modern(cls, keywords: dict[str, Any]) -> dict[str, Any]:
        """Keyword arguments with old names of fields read as what they are now."""
        return keywords

    @classmethod
    def either(cls, **values: Any) -> Any:
        """The value for this form, from one for each."""
        return values[cls.key]

    @classmethod
    def registered(cls) -> tuple[type[Problem], ...]:
        """One class a form. An instance is of the form that its fields determine; the class itself stands for the first."""
        if "forms" not in vars(cls):
            return cls.each_form()
        make: Any = cls.__init__
        forms: dict[str, type[Any]] = {}
        today = frozenset(item.name for item in fields(cast(Any, cls)))

        @wraps(make)
        def init(self: Formed, *args: Any, **keywords: Any) -> None:
            make(self, *args, **(keywords if keywords.keys() <= today else cls.modern(keywords)))
            kind, form = type(self), forms[self.taken()]
            if kind is not form and (kind is cls or kind in forms.values()):  # derived classes stay as they are
                object.__setattr__(self, "__class__", form)

        cls.__init__ = init  # type: ignore[method-assign,assignment]
        for key, own in cls.forms.items():
            where = {"__module__": cls.__module__, "__qualname__": f"{cls.__qualname__}.{key}", "__doc__": cls.__doc__}
            forms[key] = type(cls.__name__, (cls,), {**where, **own, "key": key})
            setattr(cls, key, forms[key])
        cls.key, first = next(iter(cls.forms.items()))
        for name, value in first.items():
            setattr(cls, name, value)
        return cls.each_form()

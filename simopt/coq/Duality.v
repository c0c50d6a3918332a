(** Weak duality of one instance, from its multipliers: a verified check on Q of a bound that holds for all reals.

    A [programme] is what is minimised and what is asked of a point, as terms of Simopt.v; [Let] names the largest or the least of several
    terms, or an absolute value. Its certificate says how much of each hypothesis and of each such part is taken, and which squares remain:

        objective - bound  =  sum of y (b - a)  +  sum of u (part - z)  +  sum of c l^2  +  a constant >= 0,

    where all that is added is >= 0. The kernel computes both sides as polynomials of degree two with rational coefficients. *)

From Simopt Require Export Simopt.
From Coq Require Export Psatz.
#[local] Open Scope R_scope.
#[local] Arguments Qred : simpl never.
#[local] Arguments Qplus : simpl never.
#[local] Arguments Qmult : simpl never.
#[local] Arguments Qopp : simpl never.
#[local] Arguments Qminus : simpl never.

(** * Affine forms and quadratic polynomials of the values known so far *)

Fixpoint dot (a : list Q) (x : list R) : R :=
  match a, x with c :: b, v :: y => Q2R c * v + dot b y | _, _ => 0 end.
Fixpoint combine (p : Q) (a : list Q) (q : Q) (b : list Q) : list Q :=
  match a, b with
  | [], _ => map (fun d => Qred (q * d)) b
  | _, [] => map (fun c => Qred (p * c)) a
  | c :: a', d :: b' => Qred (p * c + q * d) :: combine p a' q b'
  end.
Fixpoint triangle (t : list (list Q)) (x : list R) : R :=
  match t, x with row :: u, v :: y => v * dot row (v :: y) + triangle u y | _, _ => 0 end.
Fixpoint combine_rows (p : Q) (s : list (list Q)) (q : Q) (t : list (list Q)) : list (list Q) :=
  match s, t with
  | [], _ => map (combine 0 [] q) t
  | _, [] => map (combine 0 [] p) s
  | a :: s', b :: t' => combine p a q b :: combine_rows p s' q t'
  end.
(** The product of two linear forms: x_0 (a_0 b_0 x_0 + a_0 b' x' + b_0 a' x') + (a' x') (b' x'). *)
Fixpoint product (a b : list Q) : list (list Q) :=
  match a, b with
  | c :: a', d :: b' => (Qred (c * d) :: combine c b' d a') :: product a' b'
  | _, _ => []
  end.

Record polynomial := Polynomial { squares : list (list Q); slopes : list Q; constant : Q }.

Definition at_values (p : polynomial) (x : list R) : R := triangle (squares p) x + dot (slopes p) x + Q2R (constant p).
Definition mix (a : Q) (p : polynomial) (b : Q) (q : polynomial) : polynomial :=
  Polynomial (combine_rows a (squares p) b (squares q)) (combine a (slopes p) b (slopes q)) (Qred (a * constant p + b * constant q)).
Definition number (c : Q) := Polynomial [] [] c.
Definition affine (p : polynomial) : bool := match squares p with [] => true | _ => false end.
Definition multiplied (p q : polynomial) : option polynomial :=
  if affine p && affine q then
    Some (Polynomial (product (slopes p) (slopes q)) (combine (constant p) (slopes q) (constant q) (slopes p)) (Qred (constant p * constant q)))
  else None.
(** Multiplication by a number keeps what is quadratic. *)
Definition times_polynomial (p q : polynomial) : option polynomial :=
  match p, q with
  | Polynomial [] [] c, _ => Some (mix c q 0 (number 0))
  | _, Polynomial [] [] c => Some (mix c p 0 (number 0))
  | _, _ => multiplied p q
  end.
(** The same polynomial where a value is known before all others. *)
Definition later (p : polynomial) : polynomial := Polynomial ([] :: squares p) (0%Q :: slopes p) (constant p).

Fixpoint unit (n : nat) : list Q := match n with O => [1%Q] | S m => 0%Q :: unit m end.

Lemma Q2R_0 : Q2R 0 = 0. Proof. apply RMicromega.Q2R_0. Qed.
Lemma Q2R_1 : Q2R 1 = 1. Proof. apply RMicromega.Q2R_1. Qed.
Lemma Q2R_red q : Q2R (Qred q) = Q2R q. Proof. apply Qeq_eqR, Qred_correct. Qed.
Ltac on_reals := repeat rewrite ?Q2R_red, ?Q2R_plus, ?Q2R_mult, ?Q2R_0, ?Q2R_1.

Lemma dot_nothing x : dot [] x = 0. Proof. now destruct x. Qed.

Lemma triangle_nothing x : triangle [] x = 0. Proof. now destruct x. Qed.

Lemma dot_scaled q b x : dot (map (fun d => Qred (q * d)) b) x = Q2R q * dot b x.
Proof. revert x. induction b as [|d b IH]; intros [|v x]; cbn [map dot]; try ring. rewrite IH. on_reals. ring. Qed.

Lemma dot_combine p a q b x : dot (combine p a q b) x = Q2R p * dot a x + Q2R q * dot b x.
Proof.
  revert b x. induction a as [|c a IH]; intros [|d b] x.
  - cbn [combine map]. rewrite !dot_nothing. ring.
  - cbn [combine]. rewrite dot_scaled, dot_nothing. ring.
  - cbn [combine]. rewrite dot_scaled, dot_nothing. ring.
  - destruct x as [|v x]; cbn [combine dot]; [ring|]. rewrite IH. on_reals. ring.
Qed.

Lemma triangle_scaled q t x : triangle (map (combine 0 [] q) t) x = Q2R q * triangle t x.
Proof.
  revert x. induction t as [|r t IH]; intros [|v x]; cbn [map triangle]; try ring. rewrite IH, dot_combine, dot_nothing. on_reals. ring.
Qed.

Lemma triangle_combine p s q t x : triangle (combine_rows p s q t) x = Q2R p * triangle s x + Q2R q * triangle t x.
Proof.
  revert t x. induction s as [|a s IH]; intros [|b t] x; cbn [combine_rows]; rewrite ?triangle_scaled; try (destruct x; simpl; ring).
  destruct x as [|v x]; cbn [triangle]; [ring|]. rewrite IH, dot_combine. ring.
Qed.

Lemma triangle_product a b x : triangle (product a b) x = dot a x * dot b x.
Proof.
  revert b x. induction a as [|c a IH]; intros [|d b] [|v x]; cbn [product triangle]; rewrite ?dot_nothing; cbn [dot]; try ring.
  rewrite IH, dot_combine. on_reals. ring.
Qed.

Lemma mix_sound a p b q x : at_values (mix a p b q) x = Q2R a * at_values p x + Q2R b * at_values q x.
Proof. unfold at_values, mix. cbn [squares slopes constant]. rewrite triangle_combine, dot_combine. on_reals. ring. Qed.

Lemma number_sound c x : at_values (number c) x = Q2R c.
Proof. unfold at_values, number. cbn [squares slopes constant]. rewrite dot_nothing, triangle_nothing. ring. Qed.

Lemma multiplied_sound p q r x : multiplied p q = Some r -> at_values r x = at_values p x * at_values q x.
Proof.
  unfold multiplied. destruct p as [[|] a c], q as [[|] b d]; try easy. cbn [affine squares slopes constant andb].
  intros H; injection H as <-. unfold at_values. cbn [squares slopes constant]. rewrite triangle_product, dot_combine, !triangle_nothing. on_reals. ring.
Qed.

Lemma times_sound p q r x : times_polynomial p q = Some r -> at_values r x = at_values p x * at_values q x.
Proof.
  destruct p as [[|s t] [|a l] c]; cbn [times_polynomial].
  - intros H; injection H as <-. rewrite mix_sound, number_sound. change (Polynomial [] [] c) with (number c). rewrite number_sound.
    rewrite Q2R_0. ring.
  - destruct q as [[|] [|] d]; try apply multiplied_sound. intros H; injection H as <-. rewrite mix_sound, number_sound.
    change (Polynomial [] [] d) with (number d). rewrite number_sound, Q2R_0. ring.
  - destruct q as [[|] [|] d]; try apply multiplied_sound. intros H; injection H as <-. rewrite mix_sound, number_sound.
    change (Polynomial [] [] d) with (number d). rewrite number_sound, Q2R_0. ring.
  - destruct q as [[|] [|] d]; try apply multiplied_sound. intros H; injection H as <-. rewrite mix_sound, number_sound.
    change (Polynomial [] [] d) with (number d). rewrite number_sound, Q2R_0. ring.
Qed.

Lemma later_sound p v x : at_values (later p) (v :: x) = at_values p x.
Proof. unfold at_values, later. cbn [squares slopes constant triangle dot]. rewrite Q2R_0. ring. Qed.

Lemma unit_sound n x : at_values (Polynomial [] (unit n) 0) x = nth n x 0.
Proof.
  unfold at_values. cbn [squares slopes constant]. rewrite Q2R_0.
  assert (E : dot (unit n) x = nth n x 0).
  { revert x. induction n as [|n IH]; intros [|v x]; cbn [unit dot nth]; rewrite ?dot_nothing; trivial.
    - rewrite Q2R_1, ?dot_nothing. ring.
    - rewrite IH, Q2R_0. ring. }
  rewrite E, triangle_nothing. ring.
Qed.

(** * Terms as polynomials *)

Definition both (f : polynomial -> polynomial -> polynomial) (p q : option polynomial) : option polynomial :=
  match p, q with Some a, Some b => Some (f a b) | _, _ => None end.

Fixpoint expanded (t : term) : option polynomial :=
  match t with
  | Var n => Some (Polynomial [] (unit n) 0)
  | Num p => Some (number (inject_Z p))
  | Frac p q => Some (number (p # q))
  | Opp a => match expanded a with Some p => Some (mix (-1) p 0 (number 0)) | None => None end
  | Add a b => both (fun p q => mix 1 p 1 q) (expanded a) (expanded b)
  | Sub a b => both (fun p q => mix 1 p (-1) q) (expanded a) (expanded b)
  | Mul a b => match expanded a, expanded b with Some p, Some q => times_polynomial p q | _, _ => None end
  | Pow a 2 => match expanded a with Some p => multiplied p p | None => None end
  | _ => None
  end.

Lemma Q2R_opp_1 : Q2R (-1) = -1. Proof. unfold Q2R. simpl. field. Qed.

Lemma expanded_sound t : forall x p, expanded t = Some p -> value x t = at_values p x.
Proof.
  induction t; intros x r; cbn [expanded value]; try easy.
  - intros H; injection H as <-. symmetry. apply unit_sound.
  - intros H; injection H as <-. rewrite number_sound. unfold Q2R, inject_Z. simpl. field.
  - intros H; injection H as <-. rewrite number_sound. reflexivity.
  - destruct (expanded t) as [a|]; [|easy]. intros H; injection H as <-. rewrite mix_sound, number_sound, (IHt x a), Q2R_opp_1, Q2R_0 by easy.
    ring.
  - destruct n as [|[|[|]]]; try easy. destruct (expanded t) as [a|]; [|easy]. intros H. rewrite (multiplied_sound _ _ _ x H), (IHt x a) by easy.
    ring.
  - destruct (expanded t1) as [a|], (expanded t2) as [b|]; try easy. intros H; injection H as <-.
    rewrite mix_sound, (IHt1 x a), (IHt2 x b), Q2R_1 by easy. ring.
  - destruct (expanded t1) as [a|], (expanded t2) as [b|]; try easy. intros H; injection H as <-.
    rewrite mix_sound, (IHt1 x a), (IHt2 x b), Q2R_1, Q2R_opp_1 by easy. ring.
  - destruct (expanded t1) as [a|], (expanded t2) as [b|]; try easy. intros H.
    rewrite (IHt1 x a), (IHt2 x b) by easy. symmetry. now apply times_sound.
Qed.

(** * Programmes and their certificates *)

Inductive programme :=
  | Let (t : term) (rest : programme)       (* a part that gets a name *)
  | AtMost (a b : term) (rest : programme)  (* asked of a point: a <= b *)
  | Equal (a b : term) (rest : programme)   (* asked of a point: a = b *)
  | AtLeast (bound objective : term).       (* bound <= objective *)

Fixpoint says (x : list R) (p : programme) : Prop :=
  match p with
  | Let t rest => let part := value x t in says (part :: x) rest
  | AtMost a b rest => value x a <= value x b -> says x rest
  | Equal a b rest => value x a = value x b -> says x rest
  | AtLeast d f => value x d <= value x f
  end.

Definition part_known := Polynomial [] (unit 0) 0.

(** How much is taken: of a part the multipliers of what it is the largest or the least of, of a row one number. *)
Definition share := list Q.

(** Polynomials that are >= 0 where t has the value of the part, which is known first: u (part - z) for each z of which it is the
    largest, u (z - part) for the least, u (part - z) and u (part + z) for |z|; v (part - t) with any v where t is a polynomial. *)
Fixpoint above (t : term) (u : share) : option (polynomial * share) :=
  match t with
  | Max a b =>
      match above a u with
      | Some (p, rest) => match above b rest with Some (q, others) => Some (mix 1 p 1 q, others) | None => None end
      | None => None
      end
  | _ => match u, expanded t with
         | c :: rest, Some p => if Qle_bool 0 c then Some (mix c part_known (-c) (later p), rest) else None
         | _, _ => None
         end
  end.
Fixpoint below_all (t : term) (u : share) : option (polynomial * share) :=
  match t with
  | Min a b =>
      match below_all a u with
      | Some (p, rest) => match below_all b rest with Some (q, others) => Some (mix 1 p 1 q, others) | None => None end
      | None => None
      end
  | _ => match u, expanded t with
         | c :: rest, Some p => if Qle_bool 0 c then Some (mix (-c) part_known c (later p), rest) else None
         | _, _ => None
         end
  end.
Definition taken (t : term) (u : share) : option polynomial :=
  match t with
  | Max _ _ => match above t u with Some (p, _) => Some p | None => None end
  | Min _ _ => match below_all t u with Some (p, _) => Some p | None => None end
  | Abs z => match u, expanded z with
             | [c; d], Some p => if Qle_bool 0 c && Qle_bool 0 d then Some (mix (c + d) part_known (d - c) (later p)) else None
             | _, _ => None
             end
  | _ => match u, expanded t with [v], Some p => Some (mix v part_known (- v) (later p)) | _, _ => None end
  end.

Fixpoint sum_of_squares (l : list (Q * polynomial)) : option polynomial :=
  match l with
  | [] => Some (number 0)
  | (c, p) :: m => match multiplied p p, sum_of_squares m with
                   | Some s, Some q => if Qle_bool 0 c then Some (mix c s 1 q) else None
                   | _, _ => None
                   end
  end.

Definition is_zero (a : list Q) : bool := forallb (fun c => Qeq_bool c 0) a.
Definition nonnegative (p : polynomial) : bool := forallb is_zero (squares p) && is_zero (slopes p) && Qle_bool 0 (constant p).

Fixpoint certified (p : programme) (shares : list share) (rest : list (Q * polynomial)) (sum : polynomial) : bool :=
  match p, shares with
  | Let t q, u :: more =>
      match u with
      | [] => certified q more rest (later sum)
      | _ => match taken t u with Some r => certified q more rest (mix 1 (later sum) 1 r) | None => false end
      end
  | AtMost a b q, [y] :: more =>
      match expanded a, expanded b with
      | Some r, Some s => Qle_bool 0 y && certified q more rest (mix 1 sum y (mix 1 s (-1) r))
      | _, _ => false
      end
  | AtMost a b q, [] :: more => certified q more rest sum
  | Equal a b q, [v] :: more =>
      match expanded a, expanded b with
      | Some r, Some s => certified q more rest (mix 1 sum v (mix 1 s (-1) r))
      | _, _ => false
      end
  | Equal a b q, [] :: more => certified q more rest sum
  | AtLeast d f, [] =>
      match expanded d, expanded f, sum_of_squares rest with
      | Some r, Some s, Some q => nonnegative (mix 1 (mix 1 s (-1) r) (-1) (mix 1 sum 1 q))
      | _, _, _ => false
      end
  | _, _ => false
  end.

Lemma Qle_bool_sound c : Qle_bool 0 c = true -> 0 <= Q2R c.
Proof. intros H. apply Qle_bool_iff, Qle_Rle in H. now rewrite Q2R_0 in H. Qed.

Lemma part_sound v x : at_values part_known (v :: x) = v.
Proof. unfold part_known. now rewrite unit_sound. Qed.

Lemma above_sound t : forall u p rest x v, above t u = Some (p, rest) -> value x t <= v -> 0 <= at_values p (v :: x).
Proof.
  assert (leaf : forall t u p rest x v,
    match u, expanded t with
    | c :: rest, Some p => if Qle_bool 0 c then Some (mix c part_known (-c) (later p), rest) else None
    | _, _ => None
    end = Some (p, rest) -> value x t <= v -> 0 <= at_values p (v :: x)).
  { intros s [|c u] p rest x v; [easy|]. destruct (expanded s) as [q|] eqn:E; [|easy]. destruct (Qle_bool 0 c) eqn:C; [|easy].
    intros H; injection H as <- <-. rewrite mix_sound, later_sound, part_sound, Q2R_opp.
    rewrite (expanded_sound _ x _ E). apply Qle_bool_sound in C. intros. nra. }
  induction t; try match goal with |- context [above ?s _] => exact (leaf s) end. intros u p rest x v. cbn [above value].
  destruct (above t1 u) as [[a more]|] eqn:A; [|easy]. destruct (above t2 more) as [[b others]|] eqn:B; [|easy].
  intros H L; injection H as <- <-. rewrite mix_sound, Q2R_1.
  assert (value x t1 <= v) by (generalize (Rmax_l (value x t1) (value x t2)); lra).
  assert (value x t2 <= v) by (generalize (Rmax_r (value x t1) (value x t2)); lra).
  generalize (IHt1 _ _ _ x v A) (IHt2 _ _ _ x v B). lra.
Qed.

Lemma below_all_sound t : forall u p rest x v, below_all t u = Some (p, rest) -> v <= value x t -> 0 <= at_values p (v :: x).
Proof.
  assert (leaf : forall t u p rest x v,
    match u, expanded t with
    | c :: rest, Some p => if Qle_bool 0 c then Some (mix (-c) part_known c (later p), rest) else None
    | _, _ => None
    end = Some (p, rest) -> v <= value x t -> 0 <= at_values p (v :: x)).
  { intros s [|c u] p rest x v; [easy|]. destruct (expanded s) as [q|] eqn:E; [|easy]. destruct (Qle_bool 0 c) eqn:C; [|easy].
    intros H; injection H as <- <-. rewrite mix_sound, later_sound, part_sound, Q2R_opp.
    rewrite (expanded_sound _ x _ E). apply Qle_bool_sound in C. intros. nra. }
  induction t; try match goal with |- context [below_all ?s _] => exact (leaf s) end. intros u p rest x v. cbn [below_all value].
  destruct (below_all t1 u) as [[a more]|] eqn:A; [|easy]. destruct (below_all t2 more) as [[b others]|] eqn:B; [|easy].
  intros H L; injection H as <- <-. rewrite mix_sound, Q2R_1.
  assert (v <= value x t1) by (generalize (Rmin_l (value x t1) (value x t2)); lra).
  assert (v <= value x t2) by (generalize (Rmin_r (value x t1) (value x t2)); lra).
  generalize (IHt1 _ _ _ x v A) (IHt2 _ _ _ x v B). lra.
Qed.

Lemma taken_sound t u p x : taken t u = Some p -> 0 <= at_values p (value x t :: x).
Proof.
  assert (leaf : match u, expanded t with [v], Some p => Some (mix v part_known (- v) (later p)) | _, _ => None end = Some p ->
    0 <= at_values p (value x t :: x)).
  { destruct u as [|v [|? ?]]; try easy. destruct (expanded t) as [r|] eqn:E; [|easy]. intros H; injection H as <-.
    rewrite mix_sound, later_sound, part_sound, Q2R_opp, (expanded_sound _ x _ E). lra. }
  destruct t; try exact leaf; cbn [taken].
  - destruct u as [|c [|d [|? ?]]]; try easy. destruct (expanded t) as [r|] eqn:E; [|easy].
    destruct (Qle_bool 0 c && Qle_bool 0 d) eqn:C; [|easy]. intros H; injection H as <-. apply andb_true_iff in C.
    destruct C as [C D]. apply Qle_bool_sound in C, D.
    rewrite mix_sound, later_sound, part_sound, Q2R_minus, Q2R_plus. cbn [value]. rewrite (expanded_sound _ x _ E).
    generalize (Rle_abs (at_values r x)) (Rle_abs (- at_values r x)). rewrite Rabs_Ropp. intros. nra.
  - destruct (below_all _ u) as [[a rest]|] eqn:A; [|easy]. intros H; injection H as <-. apply (below_all_sound _ _ _ _ _ _ A). lra.
  - destruct (above _ u) as [[a rest]|] eqn:A; [|easy]. intros H; injection H as <-. apply (above_sound _ _ _ _ _ _ A). lra.
Qed.

Lemma sum_of_squares_sound l p x : sum_of_squares l = Some p -> 0 <= at_values p x.
Proof.
  revert p. induction l as [|[c q] l IH]; intros p; cbn [sum_of_squares].
  - intros H; injection H as <-. rewrite number_sound, Q2R_0. lra.
  - destruct (multiplied q q) as [s|] eqn:M; [|easy]. destruct (sum_of_squares l) as [r|]; [|easy].
    destruct (Qle_bool 0 c) eqn:C; [|easy]. intros H; injection H as <-. apply Qle_bool_sound in C. specialize (IH r eq_refl).
    rewrite mix_sound, (multiplied_sound _ _ _ x M), Q2R_1. nra.
Qed.

Lemma is_zero_sound a x : is_zero a = true -> dot a x = 0.
Proof.
  revert x. induction a as [|c a IH]; intros [|v x]; simpl; trivial. intros H. apply andb_true_iff in H. destruct H as [C H].
  apply Qeq_bool_eq, Qeq_eqR in C. rewrite C, IH, Q2R_0 by easy. ring.
Qed.

Lemma nonnegative_sound p x : nonnegative p = true -> 0 <= at_values p x.
Proof.
  unfold nonnegative, at_values. intros H. apply andb_true_iff in H. destruct H as [H C]. apply andb_true_iff in H. destruct H as [S L].
  apply Qle_bool_sound in C. rewrite is_zero_sound by easy.
  assert (E : triangle (squares p) x = 0).
  { revert S. generalize (squares p). intros s. revert x. induction s as [|a s IH]; intros [|v x]; cbn [triangle forallb]; trivial.
    intros S. apply andb_true_iff in S. destruct S as [A S]. rewrite is_zero_sound, IH by easy. ring. }
  lra.
Qed.

Theorem certified_sound p : forall shares rest sum x, certified p shares rest sum = true -> 0 <= at_values sum x -> says x p.
Proof.
  induction p as [t q IH|a b q IH|a b q IH|d f]; intros [|u more] rest sum x; cbn [certified says]; try easy.
  - intros H K. destruct u as [|c u].
    + apply (IH _ _ _ _ H). now rewrite later_sound.
    + destruct (taken t (c :: u)) as [r|] eqn:T; [|easy]. apply (IH _ _ _ _ H). rewrite mix_sound, later_sound, Q2R_1.
      generalize (taken_sound _ _ _ x T). lra.
  - destruct u as [|y [|? ?]]; try easy; intros H K A; [now apply (IH _ _ _ _ H)|].
    destruct (expanded a) as [r|] eqn:R, (expanded b) as [s|] eqn:S; try easy. apply andb_true_iff in H. destruct H as [Y H].
    apply (IH _ _ _ _ H). rewrite !mix_sound, Q2R_1, Q2R_opp_1, <- (expanded_sound _ x _ R), <- (expanded_sound _ x _ S).
    apply Qle_bool_sound in Y. nra.
  - destruct u as [|v [|? ?]]; try easy; intros H K A; [now apply (IH _ _ _ _ H)|].
    destruct (expanded a) as [r|] eqn:R, (expanded b) as [s|] eqn:S; try easy.
    apply (IH _ _ _ _ H). rewrite !mix_sound, Q2R_1, Q2R_opp_1, <- (expanded_sound _ x _ R), <- (expanded_sound _ x _ S), A. nra.
  - destruct (expanded d) as [r|] eqn:R, (expanded f) as [s|] eqn:S, (sum_of_squares rest) as [q|] eqn:T; try easy.
    intros H K. apply (nonnegative_sound _ x) in H. generalize (sum_of_squares_sound _ _ x T).
    rewrite !mix_sound, Q2R_1, Q2R_opp_1, <- (expanded_sound _ x _ R), <- (expanded_sound _ x _ S) in H. lra.
Qed.

(** What is asked of a point, as one conjunction, and what is said of it then. *)
Fixpoint asked (x : list R) (p : programme) : Prop :=
  match p with
  | Let t rest => let part := value x t in asked (part :: x) rest
  | AtMost a b (AtLeast _ _) => value x a <= value x b
  | AtMost a b rest => value x a <= value x b /\ asked x rest
  | Equal a b (AtLeast _ _) => value x a = value x b
  | Equal a b rest => value x a = value x b /\ asked x rest
  | AtLeast _ _ => True
  end.
Fixpoint concluded (x : list R) (p : programme) : Prop :=
  match p with
  | Let t rest => let part := value x t in concluded (part :: x) rest
  | AtMost _ _ rest | Equal _ _ rest => concluded x rest
  | AtLeast d f => value x d <= value x f
  end.

Lemma says_concluded p : forall x, says x p -> asked x p -> concluded x p.
Proof.
  induction p as [t q IH|a b q IH|a b q IH|d f]; intros x; cbn [says asked concluded]; trivial.
  - apply IH.
  - intros H. destruct q; try (intros [G K]; apply IH; [apply H; exact G | exact K]). intros G. exact (H G).
  - intros H. destruct q; try (intros [G K]; apply IH; [apply H; exact G | exact K]). intros G. exact (H G).
Qed.

Theorem weak_duality p shares rest : certified p shares rest (number 0) = true -> forall x, asked x p -> concluded x p.
Proof. intros H x. apply says_concluded, (certified_sound _ _ _ _ _ H). rewrite number_sound, Q2R_0. lra. Qed.

(** What the certificate of a programme proves of x, written out under a name; the kernel computes once. *)
Ltac by_weak_duality proved p shares rest x :=
  let H := fresh in
  assert (H : certified p shares rest (number 0) = true) by by_the_kernel;
  pose proof (weak_duality p shares rest H x) as proved; clear H; cbv beta iota zeta delta [asked concluded value nth] in proved.

Lemma within_gap gap low up at_point elsewhere : at_point <= up -> low <= elsewhere -> up <= low + gap -> at_point <= elsewhere + gap.
Proof. lra. Qed.

(** * The point: facts between numbers, computed on Q *)

Fixpoint exactly (x : list Q) (t : term) : option Q :=
  let two (f : Q -> Q -> Q) a b := match exactly x a, exactly x b with Some p, Some q => Some (f p q) | _, _ => None end in
  match t with
  | Var n => nth_error x n
  | Num p => Some (inject_Z p)
  | Frac p q => Some (p # q)
  | Opp a => option_map (fun p => Qred (- p)) (exactly x a)
  | Abs a => option_map Qabs (exactly x a)
  | Pow a n => option_map (fun p => Qred (p ^ Z.of_nat n)) (exactly x a)
  | Add a b => two (fun p q => Qred (p + q)) a b
  | Sub a b => two (fun p q => Qred (p - q)) a b
  | Mul a b => two (fun p q => Qred (p * q)) a b
  | Min a b => two (fun p q => if Qle_bool p q then p else q) a b
  | Max a b => two (fun p q => if Qle_bool p q then q else p) a b
  | _ => None
  end.

Lemma exactly_sound x t : forall q, exactly x t = Some q -> value (map Q2R x) t = Q2R q.
Proof.
  induction t; cbn [exactly value]; try easy; intros r.
  - intros H. apply nth_error_nth. now apply map_nth_error.
  - intros H; injection H as <-. unfold Q2R, inject_Z. simpl. field.
  - intros H; injection H as <-. reflexivity.
  - destruct (exactly x t) as [p|]; [|easy]. intros H; injection H as <-. rewrite (IHt p), Q2R_red, Q2R_opp by easy. reflexivity.
  - destruct (exactly x t) as [p|]; [|easy]. intros H; injection H as <-. rewrite (IHt p), Q2R_abs by easy. reflexivity.
  - destruct (exactly x t) as [p|]; [|easy]. intros H; injection H as <-. rewrite (IHt p), Q2R_red, Q2R_power by easy. reflexivity.
  - destruct (exactly x t1) as [a|], (exactly x t2) as [b|]; try easy. intros H; injection H as <-.
    rewrite (IHt1 a), (IHt2 b), Q2R_red, Q2R_plus by easy. reflexivity.
  - destruct (exactly x t1) as [a|], (exactly x t2) as [b|]; try easy. intros H; injection H as <-.
    rewrite (IHt1 a), (IHt2 b), Q2R_red, Q2R_minus by easy. reflexivity.
  - destruct (exactly x t1) as [a|], (exactly x t2) as [b|]; try easy. intros H; injection H as <-.
    rewrite (IHt1 a), (IHt2 b), Q2R_red, Q2R_mult by easy. reflexivity.
  - destruct (exactly x t1) as [a|], (exactly x t2) as [b|]; try easy. intros H; injection H as <-.
    rewrite (IHt1 a), (IHt2 b) by easy. destruct (Qle_bool a b) eqn:C.
    + apply Qle_bool_iff, Qle_Rle in C. now apply Rmin_left.
    + apply Rmin_right. left. apply Qlt_Rlt. apply Qnot_le_lt. intros L. apply Qle_bool_iff in L. congruence.
  - destruct (exactly x t1) as [a|], (exactly x t2) as [b|]; try easy. intros H; injection H as <-.
    rewrite (IHt1 a), (IHt2 b) by easy. destruct (Qle_bool a b) eqn:C.
    + apply Qle_bool_iff, Qle_Rle in C. now apply Rmax_right.
    + apply Rmax_left. left. apply Qlt_Rlt. apply Qnot_le_lt. intros L. apply Qle_bool_iff in L. congruence.
Qed.

Fixpoint confirmed (x : list Q) (f : fact) : bool :=
  match f with
  | Le a b => match exactly x a, exactly x b with Some p, Some q => Qle_bool p q | _, _ => false end
  | Eql a b => match exactly x a, exactly x b with Some p, Some q => Qeq_bool p q | _, _ => false end
  | Both f g => confirmed x f && confirmed x g
  | Bind t f => match exactly x t with Some q => confirmed (q :: x) f | None => false end
  | _ => false
  end.

Theorem confirmed_sound f : forall x, confirmed x f = true -> holds (map Q2R x) f.
Proof.
  induction f as [a b|a b|a b|a b|a b|f IHf g IHg|t f IH]; intros x; cbn [confirmed holds]; try easy.
  - destruct (exactly x a) as [p|] eqn:A; [|easy]. destruct (exactly x b) as [q|] eqn:B; [|easy]. intros C.
    rewrite (exactly_sound _ _ _ A), (exactly_sound _ _ _ B). now apply Qle_Rle, Qle_bool_iff.
  - destruct (exactly x a) as [p|] eqn:A; [|easy]. destruct (exactly x b) as [q|] eqn:B; [|easy]. intros C.
    rewrite (exactly_sound _ _ _ A), (exactly_sound _ _ _ B). now apply Qeq_eqR, Qeq_bool_eq.
  - intros H. apply andb_true_iff in H. destruct H. eauto.
  - destruct (exactly x t) as [q|] eqn:T; [|easy]. intros C. rewrite (exactly_sound _ _ _ T). exact (IH _ C).
Qed.

Lemma at_numbers (P : Prop) (f : fact) : (holds [] f -> P) -> confirmed [] f = true -> P.
Proof. intros H C. apply H. exact (confirmed_sound f [] C). Qed.

Ltac by_numbers f := apply (at_numbers _ f); [unfold_fact; intros H; exact H | by_the_kernel].
